// Blocks, as Apple's Block ABI (clang's documentation, Block Implementation
// Specification) lays them out; darwinkit makes them by itself.
#ifndef SIM_BLOCK_H
#define SIM_BLOCK_H

#include <objc/runtime.h>

void *Block_copy(const void *block);
void Block_release(const void *block);

#endif
