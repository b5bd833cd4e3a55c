// In place of darwinkit's queue.m: the main queue.
#include "_cgo_export.h"

#include "sim.h"

void *Dispatch_Get_Main_Queue(void) { return (void *)sim_later; }
void *Dispatch_Get_Global_Queue(intptr_t identifier, uintptr_t flags) { sim_fail("the global queue %ld %lu is not imitated", identifier, flags); }
void Dispatch_Retain(void *queue) { (void)queue; }
void Dispatch_Release(void *queue) { (void)queue; }
void Dispatch_Async(void *queue, uintptr_t task) { (void)queue; sim_later(runQueueTask, task); }
void Dispatch_Sync(void *queue, uintptr_t task) { sim_fail("dispatch_sync %p %lu would wait for the main thread", queue, task); }
