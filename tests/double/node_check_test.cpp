// node_check_test.cpp: the tests of HEED_TRACE=check once more, in double.

#include "../autograd/node_check_test.cpp"
