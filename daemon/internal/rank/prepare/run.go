package prepare

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/look"
)

const (
	// prepareTime bounds a command that prepares where nobody else does.
	prepareTime = 24 * time.Hour
	// lastLines is how many lines of its output an error has.
	lastLines = 8
	maxTail   = 8 << 10
)

// Prepare runs the program's command that prepares this node, as the account, in
// the program's directory and environment, unless it has succeeded before with the
// same inputs and versions. Of several callers for one directory one works and the
// others wait. What the command prints goes to log, where there is one; its input
// is empty. One word is a line for /bin/sh; several are a program and its arguments.
//
// A command that fails is an *api.Error (prepare_failed) whose causes are its last
// lines. What it leaves running is ended.
func (p *Preparer) Prepare(ctx context.Context, a Account, program api.Program, log io.Writer) error {
	if len(program.Prepare) == 0 {
		return nil
	}
	here := NewPlace(program.Home, a.Home).Program(program)
	release, err := p.hold(ctx, preparedPlace{uid: a.UID, directory: clean(cmp.Or(here.Directory, a.Home))})
	if err != nil {
		return err
	}
	defer release()
	before, env, err := p.find(ctx, a, program, nil)
	if err != nil {
		return p.explain(ctx, a, err)
	}
	where := placeOf(a, here, before.Directory)
	if p.recall(where) == stateOf(before.Digest, before.Versions) {
		return nil
	}
	for _, problem := range before.Problems {
		if !comes(problem.Reason, api.Program{}, false) {
			return api.Errorf(problem.Reason, problem.Subject, "%s", problem.Message).WithRemedy(problem.Remedy)
		}
	}
	activate(env, before)
	last := &tail{also: log}
	answer, err := p.runner.Ask(ctx, a, look.Request{
		Op: look.OpPrepare, DeadlineS: prepareTime.Seconds(), Env: listed(env), Directory: here.Directory, Prepare: here.Prepare,
	}, last)
	shown := shownCommand(program.Prepare)
	var failed *api.Error
	switch {
	case ctx.Err() != nil:
		failed = api.Errorf(api.ReasonPrepareFailed, before.Directory, "%s was ended: it was not done in time", shown).WithWait(shown)
	case err != nil:
		p.config.Log.Warn("a node could not be prepared", "account", a.Name, "err", err)
		failed = api.Errorf(api.ReasonPrepareFailed, before.Directory, "%s did not run", shown)
	case answer.Status == nil || *answer.Status != 0:
		failed = api.Errorf(api.ReasonPrepareFailed, before.Directory, "%s ended %s", shown, ending(answer.Status))
	}
	if failed != nil {
		failed.Data.Causes = last.causes()
		return failed
	}
	after, _, err := p.find(ctx, a, program, nil)
	if err != nil {
		return p.explain(ctx, a, err)
	}
	// Inputs that changed while it ran were not what it worked with: the digest taken
	// before it makes the next job run it again.
	if err := p.remember(where, stateOf(before.Digest, after.Versions)); err != nil {
		p.config.Log.Warn("a preparation is not remembered and will be repeated", "err", err)
	}
	return nil
}

// shownCommand is a command for a sentence; of a line for a shell, the line.
func shownCommand(words []string) string {
	if len(words) == 3 && words[0] == "/bin/sh" && words[1] == "-c" {
		words = words[2:]
	}
	return look.Printable(strings.Join(words, " "))
}

func ending(status *int) string {
	switch {
	case status == nil:
		return "in an unknown way"
	case *status > 128:
		return fmt.Sprintf("by signal %d", *status-128)
	}
	return fmt.Sprintf("with exit code %d", *status)
}

// tail passes everything on and keeps the end.
type tail struct {
	also io.Writer
	data []byte
}

// Write passes on what it can.
func (t *tail) Write(p []byte) (n int, err error) {
	if t.also != nil {
		_, err = t.also.Write(p)
		if err != nil {
			t.also = nil
		}
	}
	t.data = append(t.data, p...)
	if len(t.data) > 2*maxTail {
		t.data = append(t.data[:0], t.data[len(t.data)-maxTail:]...)
	}
	return len(p), nil
}

// causes are the last lines, without what would steer a terminal.
func (t *tail) causes() []api.Cause {
	text := t.data[max(0, len(t.data)-maxTail):]
	lines := strings.Split(strings.TrimSpace(look.Printable(string(text))), "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	var out []api.Cause
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, api.Cause{Reason: api.ReasonPrepareFailed, Message: line})
		}
	}
	return out
}
