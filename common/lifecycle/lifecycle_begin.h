/* The beginning of every lifecycle's .def file: what this reading does not ask for is nothing. */
#ifndef ABOUT
#define ABOUT(title, words)
#endif
#ifndef STATE
#define STATE(id, text, words)
#endif
#ifndef TRIGGER
#define TRIGGER(id, text, words)
#endif
#ifndef GUARD
#define GUARD(id, text, words)
#endif
#ifndef NOTE
#define NOTE(from, words)
#endif
#ifndef TRANSITION
#define TRANSITION(from, actors, trigger, guards, to)
#endif
