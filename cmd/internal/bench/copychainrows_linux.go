package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// copyChain is the Macs that get the model in turn, the second one being where it is.
var copyChain = []int{1, 0, 2, 3}

// copyChainRows measures the copy to three Macs against that to one, and what people have
// in its place. The path is one that three copies at once, each with its encryption and
// hashes, can fill on two processors.
func (b *run) copyChainRows(c *copied, within time.Duration) error {
	const name, rate = "a model over 0.5 Gb/s", 62.5e6
	if err := c.setRate(rate); err != nil {
		return err
	}
	_, noRsync := exec.LookPath("rsync")
	var one, many, rsync, cp []float64
	err := b.sample(name+" to three", 3, within, func(int) error {
		took, _, err := c.copy(b.ctx)
		if err != nil {
			return err
		}
		took3, err := c.chain(b.ctx)
		if err != nil {
			return err
		}
		one, many = append(one, took.Seconds()), append(many, took3.Seconds())
		rate, err := c.timed(exec.CommandContext(b.ctx, "cp", c.blob(), filepath.Join(c.folder, "plain")))
		if cp = append(cp, rate); err != nil || noRsync != nil {
			return err
		}
		rate, err = c.rsync(b.ctx)
		rsync = append(rsync, rate)
		return err
	}, func() []Row {
		method := fmt.Sprintf("a file of %d MB to other Macs' caches in memory, all on this machine", c.size>>20)
		rows := []Row{
			newRow(name+" to three", Median(Ratios(many, one)), "times that to one", Lower, new(1.15), "a copy to one", method),
			newRow("cp", Median(cp), "MB/s", Higher, nil, "", "the same file on one Mac"),
		}
		if noRsync != nil {
			return append(rows, Row{Name: name + ", rsync", Better: Higher, Unit: "MB/s", Verdict: NotMeasured, Why: "there is no rsync here"})
		}
		return append(rows, newRow(name+", rsync", Median(rsync), "MB/s", Higher, nil, "", "the same file by rsync's own protocol, which encrypts nothing"))
	})
	return err
}

// chain copies the model to three Macs, each from the one before once that has begun, as
// fulmen models copy does.
func (c *copied) chain(ctx context.Context) (time.Duration, error) {
	for _, to := range copyChain[1:] {
		if err := os.RemoveAll(c.repository(to)); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	all, ctx := errgroup.WithContext(ctx)
	before := make(chan struct{})
	close(before)
	for i, to := range copyChain[1:] {
		ready, begun := before, make(chan struct{})
		before = begun
		all.Go(func() error {
			select {
			case <-ready:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			return c.fetch(ctx, to, copyChain[i], begun)
		})
	}
	err := all.Wait()
	return time.Since(began), err
}

// fetch copies the model to a Mac from another; begun is closed when some of it is there.
func (c *copied) fetch(ctx context.Context, to, from int, begun chan struct{}) error {
	params := api.ModelCopyParams{ModelSelect: api.ModelSelect{Model: benchModel, Revision: benchRevision}, Node: api.NodeRef(c.members[from].ID)}
	_, changes, err := client.Stream[api.ModelCopyStarted, api.ModelCopied](ctx, c.members[to].Client, "model.copy", params)
	if err != nil {
		return err
	}
	var last api.ModelCopied
	err = client.ToEnd(changes, func(m api.ModelCopied) bool {
		if last.N == 0 && m.Progress.Error == nil {
			close(begun)
		}
		last = m
		return m.Terminal
	})
	if err == nil && last.Progress.Error != nil {
		err = last.Progress.Error
	}
	return err
}

// blob is the file with the weights.
func (c *copied) blob() string {
	at, _ := filepath.EvalSymlinks(filepath.Join(c.repository(1), "snapshots", benchRevision, "model.gguf")) // a copy has used it
	return at
}

// timed is the rate at which a program copies the file, in MB a second.
func (c *copied) timed(run *exec.Cmd) (float64, error) {
	began := time.Now()
	if out, err := run.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", run.Args[0], err, strings.TrimSpace(string(out)))
	}
	return float64(c.size) / time.Since(began).Seconds() / 1e6, nil
}

// rsync is the rate of rsync from the second Mac to the first.
func (c *copied) rsync(ctx context.Context) (rate float64, err error) {
	config, to := filepath.Join(c.folder, "rsyncd.conf"), filepath.Join(c.folder, "plain")
	text := fmt.Sprintf("use chroot = no\nuid = root\n[model]\npath = %s\n", filepath.Dir(c.blob()))
	if err := errors.Join(os.WriteFile(config, []byte(text), 0o644), os.RemoveAll(to)); err != nil {
		return 0, err
	}
	server := exec.CommandContext(ctx, "rsync", "--daemon", "--no-detach", "--port=8730", "--config="+config)
	if err := c.members[1].Space.Start(server); err != nil {
		return 0, err
	}
	defer func() {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()
	}()
	for ctx.Err() == nil { // until it listens
		run := exec.CommandContext(ctx, "rsync", "--whole-file", "rsync://10.77.0.2:8730/model/"+filepath.Base(c.blob()), to)
		began := time.Now()
		if err = c.members[0].Space.Start(run); err == nil {
			err = run.Wait()
		}
		if err == nil {
			return float64(c.size) / time.Since(began).Seconds() / 1e6, nil
		}
	}
	return 0, errors.Join(err, context.Cause(ctx))
}
