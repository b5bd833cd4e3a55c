package e2e

import "fulmen/daemon/e2e/cast"

// localGroups are names for methods of the local API. A new method has to be in one of
// them.
var localGroups = cast.Groups{
	// What any account of this Mac may see and do.
	"looking": `state.get state.watch state.unwatch node.list node.get node.watch node.conditions link.list link.get
		link.watch link.history link.export measure.get measure.list measure.watch rdma.list rdma.check rdma.history job.list
		event.list event.watch cluster.users cluster.peers cluster.sharing daemon.info daemon.config daemon.doctor
		daemon.authenticate daemon.authorize daemon.redeem_secret`,
	// What any account may have for itself: nobody else's thing is named.
	"own": `measure.gpu measure.link rdma.probe link.mute job.submit job.apply job.plan job.preflight event.audit model.list model.show model.shared model.cluster model.copy model.remove model.verify model.watch instance.apply instance.list instance.delete daemon.report
		daemon.tokens daemon.create_token daemon.revoke_token daemon.browser_secret measure.cancel`,
	// What changes the Mac for all who use it.
	"administering": `cluster.pair cluster.join cluster.answer cluster.invite cluster.remove cluster.map_user cluster.set_sharing
		node.rename rdma.enable rdma.disable rdma.undo rdma.clear daemon.set_config daemon.logs daemon.simulate
		daemon.start daemon.stop daemon.restart`,
	// What is about one job.
	"of-jobs":  "managing talking",
	"managing": "job.get job.watch job.stop job.retry job.take_over job.delete",
	"talking":  "job.logs job.input job.resize",
}

// localRule is what is expected of accounts' calls; the first that fits one counts. The
// outcome is "yes" where the call is let in, whatever comes of it, and else why not.
type localRule struct{ methods, accounts, subjects, outcome string }

// localRules are what each account may have. The subject is "-" for a method that is
// not about a job.
var localRules = []localRule{
	{"looking own", "*", "-", "yes"},
	{"administering", "admin", "-", "yes"},
	{"administering", "*", "-", "admin_required"},

	// What is not known is nobody's, and says nothing else to anybody.
	{"of-jobs", "*", "never", "no_such_job"},
	// That a job was deleted everybody may know who knew of it.
	{"of-jobs", "*", "deleted", "no_such_job job_deleted"},
	// Administrators see what a job is and end it, since it is on their Mac. What it
	// prints and reads is for who has its account, whom they can become.
	{"talking", "admin", "*", "not_your_job"},
	{"of-jobs", "admin", "*", "yes"},
	// Who submitted a job.
	{"of-jobs", "same", "own ended", "yes"},
	// Another account of the Mac, and a job of another Mac's person whom nobody here is.
	{"of-jobs", "*", "*", "not_your_job"},
}

// expectedLocal is the outcome of a case by the rules; empty where there is none.
func expectedLocal(method, account, subject string) string {
	for _, r := range localRules {
		if localGroups.Fits(r.methods, method) && localGroups.Fits(r.accounts, account) && localGroups.Fits(r.subjects, subject) {
			return r.outcome
		}
	}
	return ""
}
