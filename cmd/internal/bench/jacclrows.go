package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"fulmen/daemon/e2e/testcluster"
)

const (
	// jacclRanks is how many ranks join in a handshake that is measured.
	jacclRanks = 4
	// jacclRounds is how many are before the rows are looked at.
	jacclRounds = 11
	// jacclAhead is how long before a handshake its ranks are started.
	jacclAhead = 2500 * time.Millisecond
	// jacclWork is how long a rank goes on once it has joined: the end of one must not
	// fall into the handshake of another.
	jacclWork = "250ms"
	// jacclGoal is how long one may take over the relay, against two bare forwarders in
	// its place.
	jacclGoal = 1.3
)

// jacclBench runs the program that takes JACCL's place, by Fulmen and without.
type jacclBench struct {
	*run
	*testcluster.Stage
	*testcluster.Cluster
	standin, bench string
}

// jacclRows measures what carrying side channels adds to a handshake of four ranks.
func (b *run) jacclRows() error {
	return b.onMesh(func(stage *testcluster.Stage) error {
		return errors.Join(b.link(stage), stage.Build(b.ctx, "fulmen/daemon/e2e/jaccl/standin", "fulmen/cmd/internal/bench"))
	}, func(_ context.Context, stage *testcluster.Stage, d *testcluster.Cluster) error {
		j := &jacclBench{b, stage, d, filepath.Join(stage.Bin, "standin"), filepath.Join(stage.Bin, "bench")}
		if err := j.handshakes(b.left() * 3 / 5); err != nil {
			return err
		}
		return j.events(b.left())
	})
}

// handshakes measures, in turn, one by Fulmen, one where all ranks connect to rank 0
// themselves, and one through programs in the daemons' places that do nothing but
// carry bytes, and not even encrypt them: what any relay costs here at least. The
// ranks of all begin at one moment, rank 0 a little sooner.
func (j *jacclBench) handshakes(within time.Duration) error {
	var direct, forwarded, relayed, added, bare []float64
	return j.sample("handshakes of four ranks", jacclRounds, within, func(n int) error {
		if n == 0 && !j.shortest { // one that fills caches
			if _, err := j.relayed(); err != nil {
				return err
			}
		}
		without, err := j.direct(false)
		if err != nil {
			return err
		}
		plainly, err := j.direct(true)
		if err != nil {
			return err
		}
		with, err := j.relayed()
		if err != nil {
			return err
		}
		direct, forwarded, relayed = append(direct, without), append(forwarded, plainly), append(relayed, with)
		added, bare = append(added, with-without), append(bare, plainly-without)
		return nil
	}, func() []Row {
		return []Row{
			newRow("a handshake of four ranks over the relay", Median(Ratios(relayed, forwarded)), "ratio of times", Lower, new(jacclGoal),
				fmt.Sprintf("two bare forwarders in the daemons' places, %.3g ms; by the daemons %.3g ms", Median(forwarded).Value, Median(relayed).Value),
				"pairs, from when all begin to when the last has joined"),
			newRow("what the relay adds to a handshake of four ranks", Median(added), "ms", Lower, nil,
				fmt.Sprintf("ranks that connect to rank 0 themselves, %.3g ms", Median(direct).Value), "the same handshakes"),
			newRow("what bare forwarders add in the daemons' places", Median(bare), "ms", Lower, nil,
				"the same handshakes", "four processes of two copy loops a connection, without TLS, checks or documents"),
		}
	})
}

// joinedAt is what the stand-in says when it has joined.
var joinedAt = regexp.MustCompile(`joined rank \d+ of \d+ in \S+ s at (\d+)`)

// last is how long after a moment the last rank has joined, in ms.
func last(begin time.Time, out []byte) (float64, error) {
	all := joinedAt.FindAllSubmatch(out, -1)
	if len(all) != jacclRanks {
		return 0, fmt.Errorf("%d of %d ranks have joined:\n%s", len(all), jacclRanks, out)
	}
	var latest int64
	for _, m := range all {
		at, err := strconv.ParseInt(string(m[1]), 10, 64)
		if err != nil {
			return 0, err
		}
		latest = max(latest, at)
	}
	return float64(latest-begin.UnixNano()) / 1e6, nil
}

// relayed is a handshake of a job's ranks.
func (j *jacclBench) relayed() (float64, error) {
	ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
	defer cancel()
	begin := time.Now().Add(jacclAhead)
	c := j.Nodes[0].Command(ctx, j.Fulmen, "run", "-n", strconv.Itoa(jacclRanks), "--backend", "jaccl", "--", j.standin, "-roomy", "-work", jacclWork, "-at", strconv.FormatInt(begin.UnixNano(), 10))
	c.Dir = j.Work
	out, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return last(begin, out)
}

// direct is a handshake of ranks that this process starts, through forwarders or not.
func (j *jacclBench) direct(forwarded bool) (float64, error) {
	ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
	defer cancel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	coordinator := l.Addr().String()
	l.Close()
	devices := make([][][]string, jacclRanks)
	for i := range devices {
		devices[i] = make([][]string, jacclRanks)
		for k := range devices[i] {
			if i != k {
				devices[i][k] = []string{"rdma_en5"}
			}
		}
	}
	text, err := json.Marshal(devices)
	if err != nil {
		return 0, err
	}
	matrix := filepath.Join(j.Folder, "devices.json")
	if err := os.WriteFile(matrix, text, 0o644); err != nil {
		return 0, err
	}
	coordinators := slices.Repeat([]string{coordinator}, jacclRanks)
	if forwarded {
		addresses, stop, err := j.forwarders(ctx, coordinator)
		if err != nil {
			return 0, err
		}
		defer stop()
		coordinators = addresses
	}
	begin := time.Now().Add(jacclAhead / 2)
	outputs := make([]bytes.Buffer, jacclRanks)
	var all errgroup.Group
	for rank := range jacclRanks {
		c := exec.CommandContext(ctx, j.standin, "-roomy", "-work", jacclWork, "-at", strconv.FormatInt(begin.UnixNano(), 10))
		c.Env = append(os.Environ(), "MLX_RANK="+strconv.Itoa(rank), "MLX_JACCL_COORDINATOR="+coordinators[rank], "MLX_IBV_DEVICES="+matrix)
		c.Stdout, c.Stderr = &outputs[rank], &outputs[rank]
		all.Go(c.Run)
	}
	err = all.Wait()
	var out []byte
	for i := range outputs {
		out = append(out, outputs[i].Bytes()...)
	}
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return last(begin, out)
}

// forwarders stand where the daemons of a job's nodes would: one for rank 0, and
// before it one for each other rank. It returns the address that each rank calls,
// and what ends them all.
func (j *jacclBench) forwarders(ctx context.Context, rank0 string) ([]string, func(), error) {
	ctx, end := context.WithCancel(ctx)
	var all []*exec.Cmd
	stop := func() {
		end()
		for _, c := range all {
			_ = c.Wait()
		}
	}
	start := func(to string) (string, error) {
		c := exec.CommandContext(ctx, j.bench, "forward", to)
		if _, err := c.StdinPipe(); err != nil { // open until it is waited for
			return "", err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return "", err
		}
		if err := c.Start(); err != nil {
			return "", err
		}
		all = append(all, c)
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("bench forward: %w", err)
		}
		return strings.TrimSpace(address), nil
	}
	addresses := []string{rank0}
	last, err := start(rank0)
	for range jacclRanks - 1 {
		if err != nil {
			stop()
			return nil, nil, err
		}
		var address string
		address, err = start(last)
		addresses = append(addresses, address)
	}
	if err != nil {
		stop()
		return nil, nil, err
	}
	return addresses, stop, nil
}
