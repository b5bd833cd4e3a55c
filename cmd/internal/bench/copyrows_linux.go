package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/daemon/e2e/testcluster"
)

const (
	benchModel    = "bench/model"
	benchRevision = "08231374eeacb049a0eade7922910865b8fce912"
)

// copied is Macs in namespaces of which the second has a model, in memory so that no
// disk is measured.
type copied struct {
	*cluster
	folder string
	size   int64
}

// copyRows measures the copy of a model against what the same path and processors give.
func (b *run) copyRows() error {
	someone, ok := testcluster.Someone()
	if !ok {
		return errNotMeasured("there is no account here whose models are copied")
	}
	if _, err := exec.LookPath("iperf3"); err != nil {
		return errNotMeasured("copies of models are compared with iperf3, which is not here")
	}
	c := &copied{size: 512 << 20}
	rates := []uint64{125e6, 625e6} // 1 and 5 Gb/s
	if b.shortest {
		c.size, rates = 8<<20, rates[:1]
	}
	var err error
	if c.cluster, err = b.startCluster(len(copyChain), ""); err == nil {
		err = c.prepare(b.ctx, someone)
	}
	defer func() {
		c.cluster.close()
		os.RemoveAll(c.folder)
	}()
	if err != nil {
		return err
	}
	for i, rate := range rates {
		if err := b.copyRowsAt(c, rate, b.left()/time.Duration(len(rates)-i+3)); err != nil {
			return err
		}
	}
	if err := b.copyChainRows(c, b.left()/2); err != nil {
		return err
	}
	if err := c.setRate(rates[0]); err != nil {
		return err
	}
	return b.copyCableRows(c, b.left())
}

// copyRowsAt are those of a path of a rate, in bytes a second.
func (b *run) copyRowsAt(c *copied, rate uint64, within time.Duration) error {
	if err := c.setRate(rate); err != nil {
		return err
	}
	var speeds, plain, spent, alone []float64
	name := fmt.Sprintf("a model over %d Gb/s", rate*8/1e9)
	return b.sample(name, 3, within, func(int) error {
		took, cpu, err := c.copy(b.ctx)
		if err != nil {
			return err
		}
		over, err := c.iperf(b.ctx)
		if err != nil {
			return err
		}
		least, err := c.least()
		speeds, plain = append(speeds, float64(c.size)/took.Seconds()/1e6), append(plain, over)
		spent, alone = append(spent, cpu.Seconds()), append(alone, least.Seconds())
		return err
	}, func() []Row {
		method := fmt.Sprintf("a file of %d MB to another Mac's cache in memory, all on this machine", c.size>>20)
		goal := new(0.9)
		if rate > 125e6 {
			goal = nil // two processors do not do so much
		}
		return []Row{
			newRow(name+", rate", Median(speeds), "MB/s", Higher, nil, "", method),
			newRow(name+", part of iperf3", Median(Ratios(speeds, plain)), "of its rate", Higher, goal, "iperf3", method),
			newRow(name+", processor time", Median(Ratios(spent, alone)), "times that alone", Lower, new(1.3), "TLS and the hashes alone", method),
		}
	})
}

// setRate bounds what each Mac sends, in bytes a second.
func (c *copied) setRate(rate uint64) error {
	for _, m := range c.members {
		if err := m.SetRate("lan0", rate); err != nil {
			return err
		}
	}
	return nil
}

// prepare gives the second Mac a model that it shares, and both caches of their own.
func (c *copied) prepare(ctx context.Context, someone testcluster.Account) error {
	place := ""
	if _, err := os.Stat("/dev/shm"); err == nil {
		place = "/dev/shm"
	}
	var err error
	if c.folder, err = os.MkdirTemp(place, "fulmen-models-"); err != nil {
		return err
	}
	if err := os.Chmod(c.folder, 0o755); err != nil {
		return err
	}
	for i, m := range c.members {
		at := c.hub(i)
		text, err := json.Marshal(at)
		if err != nil {
			return err
		}
		info, err := client.Call[api.DaemonInfoResult](ctx, m.Client, "daemon.info", nil)
		if err != nil {
			return err
		}
		own := api.ClusterMapUserParams{Principal: api.Principal{User: "root", Node: info.Node}, Account: someone.Name}
		_, err = client.Call[api.Empty](ctx, m.Client, "cluster.map_user", own)
		if err == nil {
			_, err = client.Call[api.Empty](ctx, m.Client, "cluster.map_user", api.ClusterMapUserParams{Members: true, Account: someone.Name})
		}
		if err == nil {
			_, err = client.Call[api.Sharing](ctx, m.Client, "cluster.set_sharing", api.ClusterSetSharingParams{Models: api.ModelsMapped})
		}
		if err == nil {
			_, err = client.Call[api.Empty](ctx, m.Client, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"models.hub_cache": text}})
		}
		if err := errors.Join(err, os.MkdirAll(at, 0o755), someone.Owns(at)); err != nil {
			return err
		}
	}
	return c.write(someone)
}

func (c *copied) hub(i int) string { return filepath.Join(c.folder, c.members[i].Name) }

// repository is where a Mac has the model.
func (c *copied) repository(i int) string { return filepath.Join(c.hub(i), "models--bench--model") }

func (c *copied) write(someone testcluster.Account) error {
	data := make([]byte, c.size)
	rand.Read(data)
	sum := sha256.Sum256(data)
	blob, at := hex.EncodeToString(sum[:]), c.repository(1)
	snapshot := filepath.Join(at, "snapshots", benchRevision)
	return errors.Join(
		os.MkdirAll(snapshot, 0o755), os.MkdirAll(filepath.Join(at, "blobs"), 0o755), os.MkdirAll(filepath.Join(at, "refs"), 0o755),
		os.WriteFile(filepath.Join(at, "blobs", blob), data, 0o644), os.WriteFile(filepath.Join(at, "refs", "main"), []byte(benchRevision), 0o644),
		os.WriteFile(filepath.Join(snapshot, "config.json"), []byte("{}"), 0o644), os.Symlink("../../blobs/"+blob, filepath.Join(snapshot, "model.gguf")),
		filepath.WalkDir(at, func(path string, _ os.DirEntry, err error) error { return errors.Join(err, someone.Owns(path)) }))
}

// copy copies the model to the first Mac, and gives how long that took and what all
// processes of both spent on it.
func (c *copied) copy(ctx context.Context) (took, cpu time.Duration, err error) {
	if err := os.RemoveAll(c.repository(0)); err != nil {
		return 0, 0, err
	}
	before, err := c.spent()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := c.fetch(ctx, 0, 1, make(chan struct{})); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	after, err := c.spent()
	return took, after - before, err
}

// spent is what the daemons of the first two and the processes that they have reaped have used.
func (c *copied) spent() (total time.Duration, err error) {
	const perSecond = 100 // of Linux, on all that Go runs on
	for _, m := range c.members[:2] {
		p, err := procfs.NewProc(m.PID())
		if err != nil {
			return 0, err
		}
		s, err := p.Stat()
		if err != nil {
			return 0, err
		}
		total += time.Duration(s.UTime+s.STime+uint(s.CUTime+s.CSTime)) * (time.Second / perSecond)
	}
	return total, nil
}

// least is what hashes and TLS alone spend on the same path.
func (c *copied) least() (time.Duration, error) {
	var listener net.Listener
	err := c.members[0].Space.Do(func() (err error) {
		listener, err = net.Listen("tcp", "10.77.0.1:0")
		return err
	})
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	var sender net.Conn
	err = c.members[1].Space.Do(func() (err error) {
		sender, err = net.Dial("tcp", listener.Addr().String())
		return err
	})
	if err != nil {
		return 0, err
	}
	defer sender.Close()
	receiver, err := listener.Accept()
	if err != nil {
		return 0, err
	}
	defer receiver.Close()
	return hashesAndTLS(c.size, sender, receiver)
}

// iperf is the rate of one connection of iperf3 from the second Mac to the first, in MB
// a second.
func (c *copied) iperf(ctx context.Context) (float64, error) {
	to, from := c.members[0], c.members[1]
	server := exec.CommandContext(ctx, "iperf3", "--server", "--one-off", "--forceflush")
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := to.Space.Start(server); err != nil {
		return 0, err
	}
	defer server.Wait()
	if _, err := out.Read(make([]byte, 4096)); err != nil { // it listens
		return 0, err
	}
	go func() {
		for {
			if _, err := out.Read(make([]byte, 4096)); err != nil {
				return
			}
		}
	}()
	var report bytes.Buffer
	run := exec.CommandContext(ctx, "iperf3", "--client", "10.77.0.1", "--time", "2", "--json")
	run.Stdout = &report
	if err := from.Space.Start(run); err != nil {
		return 0, err
	}
	if err := run.Wait(); err != nil {
		return 0, fmt.Errorf("iperf3: %w: %s", err, strings.TrimSpace(report.String()))
	}
	var result struct {
		End struct {
			Received struct {
				BitsPerS float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal(report.Bytes(), &result); err != nil {
		return 0, err
	}
	return result.End.Received.BitsPerS / 8e6, nil
}
