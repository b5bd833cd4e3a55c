// Changing the stored network configuration: one session, from its lock to its
// commit, in which Go reads what is there and decides. Nothing is changed before
// fulmen_edit_commit, and nothing by a session that is ended without it.
#ifndef FULMEN_DARWIN_EDIT_H
#define FULMEN_DARWIN_EDIT_H

#include "buffer.h"
#include "result.h"

typedef struct fulmen_edit fulmen_edit;

// fulmen_edit_begin locks the configuration; FULMEN_STALE when somebody changed it
// meanwhile, FULMEN_REFUSED without the right to.
int fulmen_edit_begin(fulmen_edit **edit);
// fulmen_edit_read writes what fulmen_stored_read does, as of the lock.
int fulmen_edit_read(fulmen_edit *edit, fulmen_buffer *out);
// fulmen_edit_commit stores the changes and lets configd apply them.
int fulmen_edit_commit(fulmen_edit *edit);
// fulmen_edit_end unlocks and frees; it takes NULL.
void fulmen_edit_end(fulmen_edit *edit);

// fulmen_edit_add_service gives an interface a service with one manual address
// and no router, in the current set, and writes its identifier.
int fulmen_edit_add_service(fulmen_edit *edit, const char *interface, const char *name, const char *address, const char *mask,
	fulmen_buffer *out);
int fulmen_edit_remove_service(fulmen_edit *edit, const char *service);

// fulmen_edit_bridge_member changes the members of a bridge through functions that
// Apple does not publish; FULMEN_NO_SYMBOL where one of them is missing.
int fulmen_edit_bridge_member(fulmen_edit *edit, const char *bridge, const char *interface, int member);
// fulmen_edit_bridges_known is whether all of those functions are there.
int fulmen_edit_bridges_known(void);

// fulmen_edit_preferences is the session's, for the file beside this one.
#ifdef FULMEN_EDIT_INTERNAL
#include <SystemConfiguration/SystemConfiguration.h>
SCPreferencesRef fulmen_edit_preferences(fulmen_edit *edit);
// fulmen_copy_interface finds an interface by its name; the caller releases it.
SCNetworkInterfaceRef fulmen_copy_interface(const char *name);
#endif

#endif
