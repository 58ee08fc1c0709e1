/* The version of these programs: what --version says, and below which no site is upgraded. */
#pragma once

#define CORKBOARD_VERSION "0.1.0"
