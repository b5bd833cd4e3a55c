// Following what changes below a folder, by FSEvents: nothing is opened for it, however
// many files there are.
#ifndef FULMEN_DARWIN_FOLDERS_H
#define FULMEN_DARWIN_FOLDERS_H

#include <stdint.h>

#include "result.h"

typedef struct fulmen_folder fulmen_folder;

// fulmen_folder_follow announces from then on what changes at a path or below it.
int fulmen_folder_follow(uintptr_t handle, const char *path, fulmen_folder **folder);
// fulmen_folder_flush returns once what the system knows of was announced. It is not
// called while fulmenFolderChanged runs.
void fulmen_folder_flush(fulmen_folder *folder);
// fulmen_folder_leave ends it: nothing is announced once it has returned.
void fulmen_folder_leave(fulmen_folder *folder);

// fulmenFolderChanged is Go's, called on a queue of the system: something changed in the
// folder of that path, which is the caller's. More is 1 where more than that may have
// changed: events were lost, or the folder that is followed was moved, or mounted over.
extern void fulmenFolderChanged(uintptr_t handle, char *path, int more);

#endif
