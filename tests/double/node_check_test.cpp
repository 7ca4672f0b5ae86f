// node_check_test.cpp: the tests of HEED_TRACE=check once more, in double.

#include "../debug/node_check_test.cpp"
