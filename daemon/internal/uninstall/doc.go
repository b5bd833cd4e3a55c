// Package uninstall knows what Fulmen leaves on a machine, and takes it away.
//
// [Install] has launchd or systemd start the daemon: as root that of the machine, else
// that of the account. It writes the files that [List] lists as the service.
//
// [List] reads what is there and says of each thing whether it goes or stays, and
// why. [Remove] takes away what goes, in an order in which it can be interrupted and
// begun again: what starts a daemon first, the record of what was changed for RDMA
// never while something of it is left to undo. Links are removed, not followed. Of
// folders that may hold other things too, only what is Fulmen's by name goes.
//
// It needs no daemon, and refuses to work beside one. What only a daemon can do,
// putting network settings back and leaving the cluster, comes before, and is not
// its business.
package uninstall
