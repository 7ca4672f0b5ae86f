// main.cpp: the main function of the program of each command. CMake sets HEED_COMMAND to the struct
// of its options, such as TrainCommand, and HEED_COMMAND_HEADER to the header that declares it.

#include HEED_COMMAND_HEADER
#include "commands/program.hpp"

int main(int argc, char** argv) { return heed::app::main_of<heed::app::HEED_COMMAND>(argc, argv); }
