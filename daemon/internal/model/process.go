package model

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/look"
)

// Command is the daemon's command that reads an account's models.
const Command = "models"

// maxComplaints is how much is kept of what a process says on standard error.
const maxComplaints = 4 << 10

// process reads models as an account.
type process struct {
	cmd        *exec.Cmd
	in         io.WriteCloser
	lines      *bufio.Scanner
	complaints look.Head
}

// start starts one; it ends with the daemon at the latest.
func (m *Models) start(who account.Account, places inventory.Places) (*process, error) {
	cmd, err := who.Command(m.ctx, m.cfg.Self, Command)
	if err != nil {
		return nil, err
	}
	p := &process{complaints: look.Head{Limit: maxComplaints}, cmd: cmd}
	p.cmd.Stderr = &p.complaints
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = look.Lines(out, inventory.MaxLine)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s as %s: %w", Command, who.Name, err)
	}
	if err := json.NewEncoder(p.in).Encode(places); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// ask asks, and takes the answers up to the last.
func (p *process) ask(q inventory.Question, take func(inventory.Answer)) error {
	if err := json.NewEncoder(p.in).Encode(q); err != nil {
		return err
	}
	for {
		a, err := p.next()
		if err != nil {
			return err
		}
		take(a)
		if !a.More {
			return nil
		}
	}
}

// next takes an answer.
func (p *process) next() (a inventory.Answer, err error) {
	if !p.lines.Scan() {
		return a, errors.Join(io.ErrUnexpectedEOF, p.lines.Err())
	}
	return a, json.Unmarshal(p.lines.Bytes(), &a)
}

// kill has whoever waits for an answer get none.
func (p *process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// end ends the process, not reaped yet, and waits until it is gone.
func (p *process) end() {
	p.in.Close()
	p.kill()
	_ = p.cmd.Wait() // it was killed
}

// Verification is the reading of a model's files.
type Verification struct {
	// Model is what is verified.
	Model api.Model

	models  *Models
	who     account.Account
	sel     api.ModelSelect
	places  inventory.Places
	process *process
	hasTurn bool
}

// Verify begins to verify a model of a caller.
func (m *Models) Verify(ctx context.Context, caller api.Principal, sel api.ModelSelect) (*Verification, error) {
	shown, err := m.Show(ctx, caller, sel)
	if err != nil {
		return nil, err
	}
	who, err := m.cfg.Account(caller)
	if err != nil {
		return nil, err
	}
	exactly := api.ModelSelect{Model: shown.Model.Path, Revision: shown.Model.Revision}
	return &Verification{Model: shown.Model, models: m, who: who, sel: exactly, places: m.places(ctx, who)}, nil
}

// Next is how far it is; the last one says so. When ctx ends, so does the verification.
func (v *Verification) Next(ctx context.Context) (p api.ModelProgress, isLast bool, err error) {
	if v.process == nil {
		if err := v.begin(ctx); err != nil {
			return p, false, err
		}
	}
	defer context.AfterFunc(ctx, v.process.kill)()
	a, err := v.process.next()
	if err == nil && a.Progress == nil {
		err = unanswered(v.who.Name)
	}
	if err != nil {
		return p, false, err
	}
	return *a.Progress, !a.More, nil
}

// begin waits for a place, and starts the process.
func (v *Verification) begin(ctx context.Context) (err error) {
	if err := v.models.turn(ctx, v.models.verifying); err != nil {
		return err
	}
	v.hasTurn = true
	if v.process, err = v.models.start(v.who, v.places); err != nil {
		return err
	}
	return json.NewEncoder(v.process.in).Encode(inventory.Question{Verify: &v.sel})
}

// Close ends it.
func (v *Verification) Close() {
	if v.process != nil {
		v.process.end()
	}
	if v.hasTurn {
		<-v.models.verifying
	}
}
