package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// launcher is MLX's own, as its wheel names it.
const launcher = "import sys; from mlx._distributed_utils.launch import main; sys.exit(main())"

// shortPrograms are programs that end at once, so that almost all of it is what a
// launcher adds.
func (j *jobBench) shortPrograms(within time.Duration) error {
	return j.wallTime("two ranks of Python that add once and end", within, false, []string{j.Python, j.Program("all_sum.py"), "10"})
}

// generations are of the length that the goals mean: they load a model and generate.
func (j *jobBench) generations(within time.Duration) error {
	if j.WhyNoMLXLM != "" {
		j.rows = append(j.rows, j.ending("two ranks of Python that generate with mlx_lm", errNotMeasured(j.WhyNoMLXLM))...)
		return nil
	}
	model := filepath.Join(j.Work, "model")
	if text, err := j.Stage.Command(j.ctx, j.Python, j.Program("make_model.py"), model).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return j.wallTime("two ranks of Python that generate with mlx_lm", within, true, []string{j.Python, j.Program("generate.py"), model, "hello", "64"})
}

// wallTime runs a two-rank program by Fulmen, by a shell script that does nothing
// but start it, and by mlx.launch.
func (j *jobBench) wallTime(name string, within time.Duration, isMeant bool, program []string) error {
	ways := []func(context.Context) (*exec.Cmd, error){
		func(ctx context.Context) (*exec.Cmd, error) {
			c := j.Nodes[0].Command(ctx, j.Fulmen, append([]string{"run", "-n", "2", "--backend", "ring", "--"}, program...)...)
			c.Dir = j.Work
			return c, nil
		},
		func(ctx context.Context) (*exec.Cmd, error) {
			hosts, err := j.Ring(2)
			return j.Stage.Command(ctx, "/bin/sh", append([]string{j.Program("launch.sh"), hosts, "2"}, program...)...), err
		},
		func(ctx context.Context) (*exec.Cmd, error) {
			port, err := freePort()
			return j.Stage.Command(ctx, j.Python, append([]string{"-c", launcher, "-n", "2", "--backend", "ring", "-p", strconv.Itoa(port), "--"}, program...)...), err
		},
	}
	times := make([][]float64, len(ways))
	return j.sample(name, least, within, func(round int) error {
		for i := range ways {
			if round == 0 && !j.shortest { // one that fills caches
				if _, err := j.timed(ways[i]); err != nil {
					return err
				}
			}
		}
		for i := range ways {
			which := (i + round) % len(ways)
			took, err := j.timed(ways[which])
			if err != nil {
				return err
			}
			times[which] = append(times[which], took)
		}
		return nil
	}, func() (rows []Row) {
		for i, against := range []struct {
			name string
			goal float64
		}{{"a shell script that starts two ranks", 1.05}, {"mlx.launch", 0.85}} {
			goal := &against.goal
			if !isMeant {
				goal = nil
			}
			rows = append(rows, newRow(name, Median(Ratios(times[0], times[i+1])), "ratio of times", Lower, goal,
				fmt.Sprintf("%s, %.3g s; Fulmen %.3g s", against.name, Median(times[i+1]).Value, Median(times[0]).Value), "interleaved, the order rotates"))
		}
		return rows
	})
}

// timed is the time from a program's start to its end, in seconds. Its input
// stays open, since mlx.launch spins on one that has ended.
func (j *jobBench) timed(make func(context.Context) (*exec.Cmd, error)) (float64, error) {
	ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
	defer cancel()
	c, err := make(ctx)
	if err != nil {
		return 0, err
	}
	input, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	defer input.Close()
	began := time.Now()
	text, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", c.Args, err, text)
	}
	return time.Since(began).Seconds(), nil
}

// freePort finds two ports in a row that are free now: mlx.launch counts up.
func freePort() (int, error) {
	for range 100 {
		first, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1)))
		first.Close()
		if err == nil {
			second.Close()
			return port, nil
		}
	}
	return 0, errors.New("no two free ports in a row")
}

// settleBetween lets what a round leaves to be cleaned up be done before the next.
const settleBetween = 300 * time.Millisecond

// spawnTime is from the request to the news, at the client, that four ranks run.
func (j *jobBench) spawnTime(within time.Duration) error {
	var values []float64
	return j.sample("starts of four ranks", 31, within, func(int) error {
		if err := j.wait(settleBetween); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
		defer cancel()
		began := time.Now()
		id, err := j.begin(ctx, 4, "/bin/sleep", "600")
		if err != nil {
			return err
		}
		_, err = j.until(ctx, id, "four ranks", func(f *followed) bool { return f.running() == 4 })
		values = append(values, float64(time.Since(began))/1e6)
		return errors.Join(err, j.over(ctx, id))
	}, func() []Row {
		return []Row{newRow("submit to four ranks that run", Median(values), "ms", Lower, new(120.0), "", "at the client, p50; four daemons on one machine")}
	})
}

// signalTime is from the end of one of four ranks to the signal that ends the
// others, on the one clock of this machine.
func (j *jobBench) signalTime(within time.Duration) error {
	var values []float64
	return j.sample("ends of one of four ranks", 100, within, func(round int) error {
		folder := filepath.Join(j.Work, fmt.Sprintf("signalled-%d", round))
		if err := errors.Join(os.Mkdir(folder, 0o755), j.Account.Owns(folder)); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
		defer cancel()
		took, err := j.signalled(ctx, folder)
		values = append(values, took)
		return err
	}, func() []Row {
		return []Row{
			newRow("a rank ends, the last other one is signalled, p99", Quantile(values, 0.99), "ms", Lower, new(150.0), "", "four ranks"),
			newRow("a rank ends, the last other one is signalled, p50", Median(values), "ms", Lower, nil, "", "four ranks"),
		}
	})
}

func (j *jobBench) signalled(ctx context.Context, folder string) (float64, error) {
	const mortal = 3
	id, err := j.begin(ctx, 4, j.Python, j.Program("signalled.py"), folder, strconv.Itoa(mortal))
	if err != nil {
		return 0, err
	}
	// A rank that has printed has its handlers.
	f, err := j.until(ctx, id, "four ranks", func(f *followed) bool { return f.running() == 4 })
	if err == nil {
		err = j.printed(ctx, id, 4)
	}
	if err != nil {
		return 0, errors.Join(err, j.over(ctx, id))
	}
	if err := syscall.Kill(f.ranks[mortal].PID, syscall.SIGUSR1); err != nil {
		return 0, err
	}
	if _, err := j.until(ctx, id, "end", func(f *followed) bool { return f.job.Phase.Ended() }); err != nil {
		return 0, err
	}
	var at [4]int64
	for rank := range at {
		text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("n.%d", rank)))
		if err != nil {
			return 0, fmt.Errorf("rank %d was not signalled: %w", rank, err)
		}
		if at[rank], err = strconv.ParseInt(string(text), 10, 64); err != nil {
			return 0, err
		}
	}
	return float64(max(at[0], at[1], at[2])-at[mortal]) / 1e6, nil
}

// lossTime is from when the daemon of a node of a job is stopped, so that it
// beats no more, until the job's home ends the others.
func (j *jobBench) lossTime(within time.Duration) error {
	var values []float64
	return j.sample("lost nodes", least, within, func(int) error {
		ctx, cancel := context.WithTimeout(j.ctx, clusterDeadline)
		defer cancel()
		took, err := j.lost(ctx)
		values = append(values, took)
		return err
	}, func() []Row {
		return []Row{newRow("a node is lost, the others are ended", Median(values), "ms", Lower, new(3000.0), "", "its daemon is stopped")}
	})
}

func (j *jobBench) lost(ctx context.Context) (float64, error) {
	id, err := j.begin(ctx, 4, "/bin/sleep", "600")
	if err != nil {
		return 0, err
	}
	f, err := j.until(ctx, id, "four ranks", func(f *followed) bool { return f.running() == 4 && f.job.Phase == api.JobRunning })
	if err != nil {
		return 0, err
	}
	var away *testcluster.Node
	for _, n := range j.Nodes[1:] { // the first one is asked
		if n.ID != f.job.Home {
			away = n
		}
	}
	began := time.Now()
	if err := away.Signal(syscall.SIGSTOP); err != nil { // silent, as a Mac without power
		return 0, err
	}
	_, err = j.until(ctx, id, "end of the others", func(f *followed) bool { return f.job.Phase != api.JobRunning })
	took := float64(time.Since(began)) / 1e6
	return took, errors.Join(err, away.Signal(syscall.SIGCONT), j.Whole(ctx), j.over(ctx, id))
}

// logRate is how fast a rank prints, against a pipe into a file.
func (j *jobBench) logRate(within time.Duration) error {
	size := 1_000_000_000
	if j.shortest {
		size /= 1000
	}
	program := []string{j.Python, j.Program("flood.py"), strconv.Itoa(size)}
	var ours, theirs, rates []float64
	return j.sample("a gigabyte of output", least, within, func(int) error {
		ctx, cancel := context.WithTimeout(j.ctx, jobDeadline)
		defer cancel()
		id, err := j.begin(ctx, 1, program...)
		if err != nil {
			return err
		}
		f, err := j.until(ctx, id, "end", func(f *followed) bool { return f.job.Phase.Ended() })
		if err != nil {
			return err
		}
		took := f.ranks[0].EndedAt.Sub(f.ranks[0].SpawnedAt.Time).Seconds()
		ours, rates = append(ours, took), append(rates, float64(size)/took/1e6)
		pipe, err := j.timed(func(ctx context.Context) (*exec.Cmd, error) {
			file := filepath.Join(j.Work, "flood")
			return j.Stage.Command(ctx, "/bin/sh", append([]string{"-c", `"$@" | cat > "$0"`, file}, program...)...), nil
		})
		theirs = append(theirs, pipe)
		return err
	}, func() []Row {
		return []Row{
			newRow("a gigabyte of output", Median(Ratios(ours, theirs)), "ratio of times", Lower, new(1.05),
				fmt.Sprintf("program | cat > file, %.3g s", Median(theirs).Value), "interleaved"),
			newRow("output of a rank", Median(rates), "MB/s", Higher, new(200.0), "", "a Python program that prints a gigabyte"),
		}
	})
}
