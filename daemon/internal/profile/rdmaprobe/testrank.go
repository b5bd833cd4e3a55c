package rdmaprobe

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/daemon/internal/profile"
)

// testRank is a rank of a test on this node.
type testRank struct {
	rankSpec
	cancel context.CancelCauseFunc
	pid    int // guarded by Prober.mu, as is what follows
	opened bool
	joined bool
}

// rankSpec is which rank it is.
type rankSpec struct {
	ref      api.RankRef
	nodes    []api.NodeID
	end      api.LinkEnd
	devices  [][][]string
	progress func(step string, done float64)
}

// runRank runs a rank to its end.
func (p *Prober) runRank(ctx context.Context, of rankSpec) (profile.Reading, *api.Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &testRank{rankSpec: of, cancel: cancel}
	p.mu.Lock()
	p.seats[of.ref] = s
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.seats, of.ref)
		p.mu.Unlock()
	}()
	coordinator, err := p.cfg.Channels.Open(of.ref, 1, of.nodes, joinWithin+silence) // a test has no home that could change
	if err != nil {
		return profile.Reading{}, api.AsError(err)
	}
	defer p.cfg.Channels.Close(of.ref)
	file := filepath.Join(p.cfg.Folder, "probe-"+string(of.ref.Job)+"-"+strconv.Itoa(of.ref.Rank)+".json")
	text, err := json.Marshal(api.DeviceRows(of.devices))
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o600)
	}
	if err != nil {
		return profile.Reading{}, api.AsError(err)
	}
	defer os.Remove(file)
	record := p.cfg.Launch(ctx, p.command(s, file, coordinator.String()))
	if now, known := p.cfg.Channels.Settle(of.ref); known {
		p.note(s, now)
	}
	p.mu.Lock()
	s.pid = 0
	opened := s.opened
	p.mu.Unlock()
	if opened && record.Signal != "" {
		p.cfg.Killed(of.end.PortNumber)
	}
	r, fault := p.judge(ctx, record)
	if fault != nil {
		p.cfg.Log.Warn("a test over RDMA failed", "rank", of.ref.Rank, "receptacle", of.end.PortNumber, "reason", string(fault.Data.Reason), "what", record.Sentence,
			"status", record.ExitCode, "signal", record.Signal, "stderr", record.Stderr)
	}
	return r, fault
}

// command is the worker to run.
func (p *Prober) command(s *testRank, devices, coordinator string) proc.Command {
	number := strconv.Itoa(s.ref.Rank)
	return proc.Command{
		Who: "The test's worker", Path: p.cfg.Worker,
		Args: []string{string(worker.CommandSendRecv), "-backend", "jaccl", "-min-bytes", smallest, "-max-bytes", largest,
			"-per-size", perSize.String(), "-wait", joinWithin.String(), "-deadline", workWithin.String()},
		Env: append(slices.Clone(p.cfg.Env), api.EnvJob+"="+string(s.ref.Job), api.EnvRank+"="+number, api.EnvWorldSize+"="+strconv.Itoa(len(s.nodes)),
			api.EnvMLXRank+"="+number, api.EnvMLXDevices+"="+devices, api.EnvMLXCoordinator+"="+coordinator),
		Deadline: overWithin, Silence: silence,
		Started: func(pid int) {
			p.mu.Lock()
			s.pid = pid
			p.mu.Unlock()
			p.cfg.Channels.Spawned(s.ref)
		},
		Progress: func(done worker.Progress) { s.progress(done.Stage, done.DoneRatio) },
	}
}

// note takes how far a rank has come. JACCL opens its device once it is connected
// to rank 0, and rank 0 once all others are.
func (p *Prober) note(s *testRank, now api.Handshake) {
	joined := now.State == api.HandshakeJoined
	opened := joined || now.CarriedBytes > 0 || now.State == api.HandshakeConnected || now.State == api.HandshakeHeld && s.ref.Rank > 0
	p.mu.Lock()
	isNew, isThrough := opened && !s.opened, joined && !s.joined
	s.opened, s.joined = s.opened || opened, s.joined || joined
	p.mu.Unlock()
	if isNew {
		p.cfg.Opened(s.end.PortNumber)
	}
	if isThrough {
		p.cfg.Used(s.end.PortNumber)
	}
}

// judge makes of a worker's end what it means for the cable.
func (p *Prober) judge(ctx context.Context, record proc.Record) (profile.Reading, *api.Error) {
	switch {
	case record.Outcome == proc.OK && p.cfg.IsRehearsal:
		return profile.Reading{}, nil
	case record.Outcome == proc.OK:
		return read(record)
	case record.Outcome == proc.Cancelled:
		return profile.Reading{}, causeOf(ctx, api.NewError(api.ReasonCancelled, ""))
	case record.Outcome == proc.Failed && record.Word.Error.Reason == worker.ReasonBackendUnavailable:
		return profile.Reading{}, api.Errorf(api.ReasonJACCLMissing, string(p.cfg.Node), "MLX on %s has no JACCL.", p.cfg.Name(p.cfg.Node))
	case record.Outcome == proc.NotStarted && errors.Is(record.StartErr, fs.ErrNotExist):
		return profile.Reading{}, api.Errorf(api.ReasonMLXMissing, string(p.cfg.Node), "%s", record.Sentence)
	case record.Outcome == proc.NotStarted:
		return profile.Reading{}, api.Errorf(api.ReasonSpawnFailed, string(p.cfg.Node), "%s", record.Sentence)
	}
	return profile.Reading{}, api.Errorf(api.ReasonRDMAProbeFailed, string(p.cfg.Node), "%s", record.Sentence)
}
