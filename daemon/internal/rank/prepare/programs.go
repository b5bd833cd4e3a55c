package prepare

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/files"
	"fulmen/native"
)

// Policy says who may run something here, and as which account.
type Policy interface {
	// Allows gives the account, or why there is none.
	Allows(p api.Principal) (account string, reason api.Reason)
}

// ProgramsConfig is what [Programs] need.
type ProgramsConfig struct {
	Node     api.NodeID
	Clock    native.Clock
	Ledger   *ledger.Ledger
	Peers    peer.Caller
	Policy   Policy
	Preparer *Preparer
	// Self is this program, by a path at which every account can execute it.
	Self string
	// Users are the lines of the map of accounts.
	Users func() []api.MappedUser
	// Job is what is known of a job that counts.
	Job func(api.JobID) (gate.Known, bool)
	// Name is what people call a node.
	Name func(api.NodeID) string
	Log  *slog.Logger
}

// Programs has the folders and interpreters of jobs at hand on this node: it says what
// there is of what a program needs, fetches folders from those who submitted jobs and
// gives others those of this node's people, and removes copies that nobody asks for.
type Programs struct {
	cfg   ProgramsConfig
	files *files.Files
}

// NewPrograms answers preflights, and nodes that fetch folders.
func NewPrograms(c ProgramsConfig) *Programs {
	p := &Programs{cfg: c}
	p.files = files.New(files.Config{
		Self: c.Self, Peers: c.Peers, Allowed: p.allowed, Account: c.Preparer.Account, Clock: c.Clock, Log: c.Log,
	})
	c.Peers.HandleCall(gate.HandleHome(gate.Preflight, p.preflight))
	return p
}

// preflight says what this node has of what a program needs.
func (p *Programs) preflight(ctx context.Context, home gate.Home, asked api.PeerPreflightParams) (any, error) {
	principal, program := home.Spec().Principal, home.Spec().Program
	for name := range asked.Environment {
		if !slices.Contains(program.Variables, name) {
			return nil, api.Errorf(api.ReasonBadValue, name, "The spec does not pass the variable %s.", name)
		}
	}
	answer := api.Preflight{Node: p.cfg.Node}
	name, reason := p.cfg.Policy.Allows(principal)
	if reason != "" {
		answer.Problems = []api.Cause{api.NewError(reason, principal.User+" of "+p.cfg.Name(principal.Node)).Cause()}
		return answer, nil
	}
	account, err := p.cfg.Preparer.Account(name)
	if err != nil {
		answer.Problems = []api.Cause{api.AsError(err).Cause()}
		return answer, nil
	}
	if program.Sync && !p.isAtHome(principal, account) {
		program = Moved(program, p.files.Folder(principal.Node, account, program.Directory))
	}
	answer = p.cfg.Preparer.Preflight(ctx, account, program, asked.Environment)
	answer.Node = p.cfg.Node
	return answer, nil
}

// isAtHome reports whether an account here is the person who submitted a job: that
// one works in the folder itself, and needs no copy.
func (p *Programs) isAtHome(who api.Principal, account Account) bool {
	return who.Node == p.cfg.Node && who.User == account.Name
}

// Fetch brings a job's folder from its submitter's node.
func (p *Programs) Fetch(ctx context.Context, id api.JobID, spec api.JobSpec, account Account, _ api.Plan) (string, error) {
	known, found := p.cfg.Job(id)
	if !found {
		return "", api.NewError(api.ReasonNoSuchJob, string(id))
	}
	if p.isAtHome(spec.Principal, account) {
		return spec.Program.Directory, nil
	}
	return p.files.Fetch(ctx, id, known.Job.Epoch, spec.Principal.Node, account, spec.Program.Directory, nil)
}

// allowed gives the folder of a job of this node's people, and whose it is.
func (p *Programs) allowed(job gate.Known) (folder, user string, err error) {
	spec := job.Spec
	if spec.Principal.Node != p.cfg.Node || !spec.Program.Sync {
		return "", "", api.NewError(api.ReasonNotYourJob, string(spec.Job))
	}
	account, reason := p.cfg.Policy.Allows(spec.Principal)
	if reason != "" {
		return "", "", api.NewError(reason, spec.Principal.User)
	}
	return spec.Program.Directory, account, nil
}

// copiesEvery is how often old copies of folders are removed. That one has become
// old is announced by nobody.
const copiesEvery = 24 * time.Hour

// CleanDaily removes copies of folders that no job has asked for in a long time,
// now and once a day, until ctx ends.
func (p *Programs) CleanDaily(ctx context.Context) {
	for {
		p.clean(ctx)
		if !native.Pause(ctx, p.cfg.Clock, copiesEvery) {
			return
		}
	}
}

// clean looks into the home folders of the accounts as which others' jobs
// run here. What jobs that are not deleted have left in a copy stays.
func (p *Programs) clean(ctx context.Context) {
	var kept []api.JobSpec
	for _, record := range p.cfg.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob}}) {
		if known, found := p.cfg.Job(api.JobID(record.Key().Name)); found && known.Spec.Program.Sync {
			kept = append(kept, known.Spec)
		}
	}
	done := map[string]bool{}
	for _, line := range p.cfg.Users() {
		if line.Account == "" || done[line.Account] {
			continue
		}
		done[line.Account] = true
		account, err := p.cfg.Preparer.Account(line.Account)
		if err != nil {
			continue // it is gone, or root's now: nothing is touched as such
		}
		var keep []string
		for _, spec := range kept {
			keep = append(keep, p.files.Folder(spec.Principal.Node, account, spec.Program.Directory))
		}
		if err := p.files.Clean(ctx, account, keep); err != nil && ctx.Err() == nil {
			p.cfg.Log.Warn("old copies of folders could not be removed", "account", account.Name, "error", err)
		}
	}
}
