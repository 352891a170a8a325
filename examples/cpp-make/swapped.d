swapped.o: tests/swapped.cpp /tmp/cpp/cl/prism/moments.h

/tmp/cpp/cl/prism/moments.h:
