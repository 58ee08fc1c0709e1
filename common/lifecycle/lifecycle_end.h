/* The end of every lifecycle's .def file: the macros of one reading are gone. */
#undef ABOUT
#undef STATE
#undef TRIGGER
#undef GUARD
#undef NOTE
#undef TRANSITION
