/* The beginning of every lifecycle's .def file: what this reading does not ask for is nothing. */
#ifndef ABOUT
#define ABOUT(title, words)
#endif
#ifndef STATE
#define STATE(id, text, words)
#endif
#ifndef NEWS
#define NEWS(id, text, words)
#endif
#ifndef GUARD
#define GUARD(id, text, words)
#endif
#ifndef NOTE
#define NOTE(from, words)
#endif
#ifndef MOVE
#define MOVE(from, actors, news, guards, to)
#endif
