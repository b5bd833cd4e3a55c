package cast

import (
	"slices"
	"strings"
)

// Groups are names for several things, of which each may be a group's name.
type Groups map[string]string

// RouteGroups are of routes and callers.
var RouteGroups = Groups{
	"of-members": "peer.hello peer.put peer.digest peer.pull peer.roster peer.watch peer.unwatch peer.hold peer.measure peer.profile stream side_channel",
	"of-cables":  "peer.rdma peer.probe",
	"starting":   "peer.grant peer.listen peer.start peer.spawn",
	"going-on":   "peer.release peer.renew peer.end",
	"of-homes":   "peer.preflight starting going-on",
	"seeing":     "peer.resize output input",
	"of-people":  "peer.job/stop peer.job/delete seeing",

	"nobody": "stranger removed",
	"homes":  "first offered voted acted bound", // proven, and bound by what this node holds of persons
	"claims": "member submitter unbound rank cable self",
}

// Rule is what is expected of cases; the first that fits one counts. Admitted is "yes",
// everything else is why not.
type Rule struct{ Routes, Callers, Subjects, Outcome string }

// Rules are what each caller may have.
var Rules = []Rule{
	// Who is no member has nothing, not as the first home that a spec names either.
	{"*", "nobody", "*", "not_a_member"},

	// Members have this by their key alone.
	{"of-members", "*", "*", "yes"},

	// Readers of models, of whom a node's word counts for its own people alone; in this
	// cast models are shared with nobody else.
	{"peer.models model model_copy", "*", "forged", "peer_not_allowed"},
	{"peer.models model model_copy", "self", "*", "yes"},
	{"peer.models model model_copy", "*", "*", "models_not_shared"},

	// A cable's other end.
	{"of-cables", "cable", "*", "yes"},
	{"of-cables", "*", "*", "no_such_link"},

	// Homes of jobs. First that the submitter's node signed the spec for this cluster.
	{"of-homes", "*", "altered foreign", "spec_altered"},
	// Then that the steps lead to the caller. The submitter's node is no home for that
	// it submitted the job, nor this node for that it is this node.
	{"of-homes", "claims", "*", "home_not_proven"},
	{"of-homes", "*", "another forged", "home_not_proven"},
	// By a spec to look nothing is started, kept or ended.
	{"peer.preflight", "homes former", "look", "yes"},
	{"of-homes", "*", "look", "home_not_proven"},
	// What begins needs a spec of now.
	{"peer.preflight starting", "homes former", "expired", "spec_expired"},
	// A deleted job is known no more: whoever proves that it was a home ends its ranks.
	{"peer.preflight starting", "homes former", "deleted", "job_deleted"},
	{"going-on", "homes former", "deleted", "yes"},
	// A second spec of the same job, which its submitter's node signed too.
	{"of-homes", "homes former", "resigned", "spec_altered"},
	{"peer.preflight starting", "homes former", "ended", "job_ended"},
	// A newer home is known.
	{"of-homes", "homes", "stale", "stale_epoch"},
	{"of-homes", "former", "never", "yes"},
	{"of-homes", "former", "own stale ended expired", "stale_epoch"},
	{"of-homes", "homes", "own never", "yes"},
	{"going-on", "homes", "ended expired", "yes"},

	// The previous home, with its own offer to this node.
	{"peer.job/submit", "*", "altered foreign", "spec_altered"},
	{"peer.job/submit", "claims", "*", "home_not_proven"},
	{"peer.job/submit", "*", "another forged look", "home_not_proven"},
	{"peer.job/submit", "*", "expired", "spec_expired"},
	{"peer.job/submit", "*", "deleted", "job_deleted"},
	{"peer.job/submit", "*", "resigned", "spec_altered"},
	{"peer.job/submit", "*", "ended", "job_ended"},
	{"peer.job/submit", "*", "stale", "stale_epoch"},
	{"peer.job/submit", "former", "own", "stale_epoch"}, // it has offered itself or another a higher epoch since
	{"peer.job/submit", "homes former", "own never", "yes"},

	// Values: this node is the submitter's, and so is the caller "self". The spec is the
	// one that this node holds, whatever was made of it elsewhere.
	{"peer.job/values", "*", "never look", "no_such_job"},
	{"peer.job/values", "*", "deleted", "job_deleted"},
	{"peer.job/values", "*", "another", "peer_not_allowed"},
	{"peer.job/values", "claims bound", "*", "home_not_proven"}, // what binds this node alone is no proof
	{"peer.job/values", "*", "forged", "home_not_proven"},
	// The steps were signed for another spec than the one of this node.
	{"peer.job/values", "offered former voted acted", "altered resigned", "home_not_proven"},
	{"peer.job/values", "*", "expired", "spec_expired"}, // they are for starting ranks
	{"peer.job/values", "*", "ended", "job_ended"},
	{"peer.job/values", "former", "*", "stale_epoch"},
	{"peer.job/values", "*", "stale", "stale_epoch"},
	{"peer.job/values", "first offered voted acted", "own altered resigned foreign", "yes"},

	// Votes: any member may be voted for, in place of a home that is proven and counts, of
	// a job that goes on by the spec that this node knows. Whether the home is gone is for
	// the handler.
	{"peer.vote", "*", "altered foreign", "spec_altered"},
	{"peer.vote", "*", "forged look", "home_not_proven"},
	{"peer.vote", "*", "another", "yes"},
	{"peer.vote", "unbound", "*", "home_not_proven"},
	{"peer.vote", "*", "deleted", "job_deleted"},
	{"peer.vote", "*", "resigned", "spec_altered"},
	{"peer.vote", "*", "ended", "job_ended"},
	{"peer.vote", "*", "stale", "stale_epoch"},
	{"peer.vote", "former", "own expired", "stale_epoch"},
	{"peer.vote", "*", "*", "yes"},

	// People. What is not known is nobody's.
	{"of-people publish files", "*", "never look", "no_such_job"},
	{"of-people publish files", "*", "deleted", "job_deleted"},
	{"of-people", "*", "another", "not_your_job"},
	{"of-people", "submitter", "*", "yes"},
	{"of-people", "self", "*", "yes"}, // whom this node maps to the submitter
	// A node's map is believed elsewhere for stopping alone, and while a rank runs there.
	{"peer.job/stop", "rank", "ended", "not_your_job"},
	{"peer.job/stop", "rank", "*", "yes"},
	// A former home passes a stop on; the home of now needs none.
	{"peer.job/stop", "former", "*", "yes"},
	{"peer.job/stop", "homes", "stale", "yes"},
	// The home of now says that the job is deleted.
	{"peer.job/delete", "homes", "stale", "not_your_job"},
	{"peer.job/delete", "homes", "*", "yes"},
	{"of-people", "*", "*", "not_your_job"},

	// A published port is for the submitter's node alone.
	{"publish", "submitter", "another", "peer_not_allowed"},
	{"publish", "submitter", "*", "yes"},
	{"publish", "*", "*", "peer_not_allowed"},

	// Files: the node of a rank of the attempt that goes on, at the home's epoch.
	{"files", "*", "ended", "job_ended"},
	{"files", "*", "stale forged", "stale_epoch"},
	{"files", "rank", "another", "not_your_job"},
	{"files", "rank", "*", "yes"},
	{"files", "*", "*", "not_your_job"},
}

// Fits reports whether words, some of which are groups, name something; "*" names all.
func (g Groups) Fits(words, name string) bool {
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool {
		group, isGroup := g[w]
		return w == "*" || w == name || isGroup && g.Fits(group, name)
	})
}

// Expected is the outcome of a case by the rules, and which rule says so; -1 = none.
func Expected(route, caller, subject string) (outcome string, by int) {
	for i, r := range Rules {
		if RouteGroups.Fits(r.Routes, route) && RouteGroups.Fits(r.Callers, caller) && RouteGroups.Fits(r.Subjects, subject) {
			return r.Outcome, i
		}
	}
	return "", -1
}
