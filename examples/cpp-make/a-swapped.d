swapped.o: tests/swapped.cpp build/prism/moments.h
build/prism/moments.h:
