package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

const (
	// clusterDeadline bounds the start of the cluster that runs jobs.
	clusterDeadline = 2 * time.Minute
	// jobDeadline bounds each job.
	jobDeadline = time.Minute
)

// jobBench is a cluster of daemons on simulated Macs that runs jobs.
type jobBench struct {
	*run
	*testcluster.Stage
	*testcluster.Cluster
}

// jobRows measures jobs: real programs, over daemons that share this machine.
func (b *run) jobRows() error {
	return b.onMesh(func(stage *testcluster.Stage) error {
		if stage.WhyNoPython != "" {
			return errNotMeasured(stage.WhyNoPython)
		}
		return b.link(stage)
	}, b.jobsOn)
}

// onMesh gives work four daemons of a simulated desk, once what they need is on the
// stage. The context bounds the start of work.
func (b *run) onMesh(prepare func(*testcluster.Stage) error, work func(context.Context, *testcluster.Stage, *testcluster.Cluster) error) error {
	stage, err := testcluster.NewStage(".")
	if err != nil {
		stage.Close() // what was made before the error
		if errors.Is(err, testcluster.ErrNobody) {
			return errNotMeasured(err.Error())
		}
		return err
	}
	defer stage.Close()
	if err := prepare(stage); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.ctx, clusterDeadline)
	defer cancel()
	d, err := stage.Start(ctx, "mesh-4", []string{"studio-1", "studio-2", "studio-3", "studio-4"}, "")
	if err != nil {
		d.Close()
		return err
	}
	defer d.Close()
	return work(ctx, stage, d)
}

func (b *run) jobsOn(ctx context.Context, stage *testcluster.Stage, d *testcluster.Cluster) error {
	j := &jobBench{b, stage, d}
	if err := j.verify(ctx); err != nil {
		return err
	}
	if err := b.wait(quiet); err != nil {
		return err
	}
	parts := []func(within time.Duration) error{j.shortPrograms, j.generations, j.spawnTime, j.signalTime, j.lossTime, j.logRate, j.endpoint}
	if b.shortest {
		parts = slices.Delete(parts, 1, 2) // the same with other programs, which take long
	}
	for i, part := range parts {
		if err := part(b.left() / time.Duration(len(parts)-i)); err != nil {
			return err
		}
	}
	return nil
}

// link puts what make build made onto a stage.
func (b *run) link(stage *testcluster.Stage) error {
	for name, to := range map[string]string{"fulmen": stage.Fulmen, "fulmend": stage.Fulmend, "fulmen-shim": stage.Shim, "fulmen-rank": stage.Worker} {
		if err := testcluster.Link(filepath.Join(filepath.Dir(b.worker), name), to, true); err != nil {
			return fmt.Errorf("%w; run make build", err)
		}
	}
	return nil
}

// verify has jobs run that are submitted by this process, where that is root.
func (j *jobBench) verify(ctx context.Context) error {
	if !j.Account.Other {
		return nil
	}
	root := api.Principal{User: "root", Node: j.Nodes[0].ID}
	for _, n := range j.Nodes {
		_, err := client.Call[api.Empty](ctx, n.Client, "cluster.map_user", api.ClusterMapUserParams{Principal: root, Account: j.Account.Name})
		if err != nil {
			return fmt.Errorf("%s: map root: %w", n.Mac, err)
		}
	}
	return nil
}

// begin submits a job of a program on so many ranks, without a client that
// follows it, at the first node.
func (j *jobBench) begin(ctx context.Context, ranks int, command ...string) (api.JobID, error) {
	return j.place(ctx, api.Placement{Ranks: ranks, Backend: api.BackendRing, GPU: api.GPUExclusive}, command...)
}

// place is begin where more is said about where.
func (j *jobBench) place(ctx context.Context, where api.Placement, command ...string) (api.JobID, error) {
	result, err := client.Call[api.JobSubmitResult](ctx, j.Nodes[0].Client, "job.submit", api.JobSubmitParams{Request: api.JobRequest{
		Program: api.Program{Command: command, Directory: j.Work, Stdin: api.StdinNone}, Placement: where, AllowSolo: true, Detached: true,
	}})
	return result.Job, err
}

// followed is what is known of a job while it is watched.
type followed struct {
	job   api.Job
	ranks map[int]api.Rank
}

func (f *followed) take(docs []api.Document) error {
	for _, d := range docs {
		if d.Kind == api.KindJob {
			if err := d.Decode(&f.job); err != nil {
				return err
			}
			continue
		}
		var rank api.Rank
		if err := d.Decode(&rank); err != nil {
			return err
		}
		f.ranks[rank.Rank] = rank
	}
	return nil
}

// running counts the ranks that run.
func (f *followed) running() int {
	count := 0
	for _, r := range f.ranks {
		if r.Phase == api.RankRunning && r.PID != 0 {
			count++
		}
	}
	return count
}

// until watches a job at the first node until what is known of it fits.
func (j *jobBench) until(ctx context.Context, id api.JobID, what string, fits func(*followed) bool) (*followed, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := &followed{ranks: map[int]api.Rank{}}
	first, changes, err := client.Stream[api.JobWatchResult, api.JobChanged](ctx, j.Nodes[0].Client, "job.watch", api.JobSelect{Job: id})
	if err != nil {
		return f, err
	}
	if err := f.take(append(first.Ranks, first.Job)); err != nil || fits(f) {
		return f, err
	}
	for change, err := range changes {
		if err != nil {
			return f, fmt.Errorf("job %s: waiting for %s, while it is %s: %s: %w", id, what, f.job.Phase, f.job.Message, errors.Join(err, context.Cause(ctx)))
		}
		if err := f.take(change.Put); err != nil || fits(f) {
			return f, err
		}
		if change.Terminal {
			break
		}
	}
	return f, fmt.Errorf("job %s: no %s: it is %s: %s %s", id, what, f.job.Phase, f.job.Reason, f.job.Message)
}

// over ends a job at once and waits for its end.
func (j *jobBench) over(ctx context.Context, id api.JobID) error {
	_, err := client.Call[api.Empty](ctx, j.Nodes[0].Client, "job.stop", api.JobStopParams{Job: id, Kill: true})
	if err != nil && !errors.Is(err, api.ReasonJobEnded) {
		return err
	}
	_, err = j.until(ctx, id, "end", func(f *followed) bool { return f.job.Phase.Ended() })
	return err
}

// printed waits until so many ranks have printed something.
func (j *jobBench) printed(ctx context.Context, id api.JobID, ranks int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	_, pieces, err := client.Stream[api.JobLogsResult, api.JobOutput](ctx, j.Nodes[0].Client, "job.logs", api.JobLogsParams{Job: id, Follow: true})
	if err != nil {
		return err
	}
	seen := map[int]bool{}
	for piece, err := range pieces {
		if err != nil {
			return err
		}
		if len(piece.Data) > 0 {
			seen[piece.Rank] = true
		}
		if len(seen) == ranks {
			return nil
		}
	}
	return errors.New("the output ended before every rank had printed")
}
