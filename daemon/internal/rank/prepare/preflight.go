package prepare

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/files"
	"fulmen/daemon/internal/rank/prepare/look"
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
	// Model is one of the models of the account that somebody's jobs have here.
	Model func(ctx context.Context, who api.Principal, sel api.ModelSelect) (api.ModelShowResult, error)
	// CopyModel begins to copy a model of another node to the account of a person here.
	CopyModel func(ctx context.Context, who api.Principal, from api.NodeID, sel api.ModelSelect) (ModelCopy, error)
	// Users are the lines of the map of accounts.
	Users func() []api.MappedUser
	// Job is what is known of a job that counts.
	Job func(api.JobID) (gate.Known, bool)
	// Name is what people call a node.
	Name func(api.NodeID) string
	Log  *slog.Logger
}

// ModelCopy is a copy of a model to this node.
type ModelCopy interface {
	// Next waits for how far it is, and says whether that is the last. The error is that of ctx.
	Next(ctx context.Context) (p api.ModelProgress, isLast bool, err error)
	// Close ends it.
	Close()
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
	if spec := home.Spec(); spec.Model.Model != "" {
		found := p.Model(ctx, spec, account, asked.ModelRevision)
		answer.Model = &found
	}
	if asked.ModelOnly {
		return answer, nil
	}
	model := answer.Model
	if program.Sync && !p.isAtHome(principal, account) {
		program = Moved(program, p.files.Folder(principal.Node, account, program.Directory))
	}
	answer = p.cfg.Preparer.Preflight(ctx, account, program, asked.Environment)
	answer.Node, answer.Model = p.cfg.Node, model
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
	return p.files.Fetch(ctx, id, known.Job.Epoch, spec.Principal.Node, account, spec.Program.Directory)
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

// Preflight says what this node has of what a program needs, as the account sees
// it. values are those of the spec's variables. ctx bounds it; whatever goes wrong
// is one of the answer's problems. Without a command it is Python that is looked
// for. The caller fills in the node.
//
// What --sync brings is not missed, nor, until the node is prepared, what the
// command that prepares it may bring; versions are absent until then.
func (p *Preparer) Preflight(ctx context.Context, a Account, program api.Program, values map[string]string) api.Preflight {
	if program.Builtin == "" && len(program.Command) == 0 {
		program.Command = []string{"python"}
	}
	answer, env, err := p.find(ctx, a, program, values)
	if err != nil {
		return api.Preflight{Problems: []api.Cause{p.explain(ctx, a, err).Cause()}}
	}
	p.keepFound(a, program, values, answer, env)
	problems, isPrepared := answer.Problems, p.isPrepared(a, program, answer)
	problems = slices.DeleteFunc(problems, func(c api.Cause) bool { return comes(c.Reason, program, isPrepared) })
	result := api.Preflight{
		Directory: answer.Directory, Interpreter: answer.Interpreter, Versions: answer.Versions, MLX: answer.MLX,
		DiskFreeBytes: answer.DiskFreeBytes, Problems: problems,
	}
	if !isPrepared {
		result.Versions, result.MLX = nil, nil
	}
	return result
}

// comes reports whether what is missing may be there by the time the program starts.
func comes(reason api.Reason, program api.Program, isPrepared bool) bool {
	switch reason {
	case api.ReasonDirectoryMissing:
		return program.Sync
	case api.ReasonProgramMissing:
		return program.Sync || !isPrepared
	case api.ReasonInterpreterMissing:
		return !isPrepared
	}
	return false
}

// Resolved is a program as this node executes it.
type Resolved struct {
	// Program is the absolute path to execute.
	Program string
	// Args are its arguments, without its own name.
	Args []string
	// Env is its whole environment, "NAME=value", ordered by name, without what
	// Fulmen adds for the rank.
	Env []string
	// Dir is the absolute path where it starts.
	Dir string
	// Versions are those of Python, MLX and mlx_lm, as in [api.Preflight].
	Versions map[string]string
	// MLX is the program's MLX; nil where that is not known.
	MLX *api.ProgramMLX
}

// Resolve finds what a rank executes. It is refused with an *api.Error: the first
// of the problems, with all of them as its causes where there are several.
func (p *Preparer) Resolve(ctx context.Context, a Account, program api.Program, values map[string]string) (Resolved, error) {
	answer, env, isFresh := p.takeFound(a, program, values)
	if !isFresh {
		var err error
		if answer, env, err = p.find(ctx, a, program, values); err != nil {
			return Resolved{}, p.explain(ctx, a, err)
		}
	}
	if len(answer.Problems) > 0 {
		first := answer.Problems[0]
		refused := api.Errorf(first.Reason, first.Subject, "%s", first.Message).WithRemedy(first.Remedy)
		if len(answer.Problems) > 1 {
			refused.Data.Causes = answer.Problems
		}
		return Resolved{}, refused
	}
	activate(env, answer)
	return Resolved{Program: answer.Program, Args: answer.Args, Env: listed(env), Dir: answer.Directory, Versions: answer.Versions, MLX: answer.MLX}, nil
}

// activate switches the Python environment on that was found.
func activate(env map[string]string, answer look.Answer) {
	if answer.Environment != "" {
		usePython(env, answer.Environment, answer.Kind == look.KindConda)
	}
}

// explain makes an error fit for a person. Its text stays in the log.
func (p *Preparer) explain(ctx context.Context, a Account, err error) *api.Error {
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	p.config.Log.Warn("a look as an account failed", "account", a.Name, "err", err)
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return api.Errorf(api.ReasonDeadline, a.Name, "looking for the program as %s took too long", a.Name).
			WithWait("a look at the program as " + a.Name).WithRemedy("Check that its folders are not on a disk or server that does not answer.")
	}
	return api.Errorf(api.ReasonSpawnFailed, a.Name, "looking for the program as %s failed", a.Name)
}

const (
	// latelyFor is how long what a preflight found counts for the start that follows
	// it: looking again would cost each rank another process.
	latelyFor = 5 * time.Second
	// latelyKept bounds how much of it is kept.
	latelyKept = 64
)

// found is what a preflight found.
type found struct {
	answer look.Answer
	env    map[string]string
	until  time.Duration // on Clock.Boot
}

// lately are finds by what was looked for, and by whom.
type lately map[[sha256.Size]byte]found

// askedFor names what is looked for.
func askedFor(a Account, program api.Program, values map[string]string) (key [sha256.Size]byte, ok bool) {
	// What is copied or prepared first is looked for again.
	if program.Prepares() {
		return key, false
	}
	raw, err := json.Marshal([]any{a, program, values})
	return sha256.Sum256(raw), err == nil
}

// keepFound keeps what a preflight found, if a start may use it.
func (p *Preparer) keepFound(a Account, program api.Program, values map[string]string, answer look.Answer, env map[string]string) {
	key, ok := askedFor(a, program, values)
	if !ok || len(answer.Problems) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.config.Clock.Boot()
	maps.DeleteFunc(p.lately, func(_ [sha256.Size]byte, f found) bool { return f.until <= now })
	if len(p.lately) < latelyKept {
		p.lately[key] = found{answer, env, now + latelyFor}
	}
}

// takeFound gives what a preflight has found just now, once.
func (p *Preparer) takeFound(a Account, program api.Program, values map[string]string) (answer look.Answer, env map[string]string, ok bool) {
	key, ok := askedFor(a, program, values)
	if !ok {
		return answer, nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.lately[key]
	delete(p.lately, key)
	return f.answer, f.env, ok && p.config.Clock.Boot() < f.until
}

// find has a process of the account find a program. What it is asked with is
// what it found with: the second result is the environment, before a Python
// environment is switched on.
func (p *Preparer) find(ctx context.Context, a Account, program api.Program, values map[string]string) (look.Answer, map[string]string, error) {
	place := NewPlace(program.Home, a.Home)
	program = place.Program(program)
	stale := ""
	for {
		l, err := p.login(ctx, a, stale)
		if err != nil {
			return look.Answer{}, nil, err
		}
		env := mergeVariables(l.env, values, place.Value)
		request := look.Request{
			Op: look.OpFind, DeadlineS: findTime.Seconds(), Stamp: l.stamp, Env: listed(env), AccountEnv: l.env,
			Directory: program.Directory, Command: program.Command, Interpreter: program.Interpreter,
			Environment: program.Environment, Packages: []string{"mlx", "mlx_lm"}, Pythons: p.known(a),
			Prepare: program.Prepare, PrepareInputs: program.PrepareInputs,
		}
		if program.Builtin != "" {
			request.Builtin = p.config.Worker
			request.Command = append([]string{string(program.Builtin)}, program.Command...)
		}
		answer, err := p.runner.Ask(ctx, a, request, nil)
		if err != nil {
			return look.Answer{}, nil, err
		}
		if answer.Stale && stale == "" {
			stale = l.stamp
			continue
		}
		if answer.Stale {
			return look.Answer{}, nil, api.Errorf(api.ReasonPrepareFailed, "", "The files of the login shell change all the time.")
		}
		if l.note != "" {
			explainPath(answer.Problems, l.note)
		}
		p.learn(a, answer.Python)
		return answer, env, nil
	}
}

// findTime bounds a look at a node by itself; who asks has a deadline too.
const findTime = 15 * time.Second

// explainPath says in what could not be found that the PATH may not be the right one.
func explainPath(problems []api.Cause, note string) {
	for i, problem := range problems {
		if !strings.HasPrefix(problem.Subject, "/") && (problem.Reason == api.ReasonProgramMissing || problem.Reason == api.ReasonInterpreterMissing) {
			problems[i].Message = strings.TrimSuffix(problem.Message, ".") + "; " + note + "."
		}
	}
}

// known are the interpreters that were asked before.
func (p *Preparer) known(a Account) []look.Python {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.pythons[a.UID])
}

// maxPythons bounds how many interpreters are kept of an account.
const maxPythons = 16

// learn keeps what an interpreter said.
func (p *Preparer) learn(a Account, python *look.Python) {
	if python == nil || python.Stamp == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := slices.DeleteFunc(p.pythons[a.UID], func(k look.Python) bool { return k.Path == python.Path })
	p.pythons[a.UID] = append(kept[max(0, len(kept)-maxPythons+1):], *python)
}
