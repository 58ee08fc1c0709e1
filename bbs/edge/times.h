/* How long an operation at a site may take (docs/edge.md, The centre's records). */
#pragma once

#include "common/contract/moment.h"
#include "common/model/edge_times.h"

#define EDGE_MINUTES(n) ((n)*60 * SECOND_NS)
#define CLOUDLET_CREATE_NS EDGE_MINUTES(7 * 24 * 60) /* people install sites */
#define CLOUDLET_UPGRADE_NS EDGE_MINUTES(20)
#define CLOUDLET_DELETE_NS EDGE_MINUTES(20)
#define MAINTENANCE_ANSWER_NS EDGE_MINUTES(5)
#define CLUSTER_CREATE_NS EDGE_MINUTES(30)
#define CLUSTER_UPDATE_NS EDGE_MINUTES(20)
#define CLUSTER_DELETE_NS EDGE_MINUTES(20)
#define INSTANCE_CREATE_NS EDGE_MINUTES(30)
#define INSTANCE_UPDATE_NS EDGE_MINUTES(30)
#define INSTANCE_DELETE_NS EDGE_MINUTES(20)
#define DELETE_PREPARE_NS EDGE_MINUTES(20)
