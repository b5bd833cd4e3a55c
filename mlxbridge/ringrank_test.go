package mlxbridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ringRank is what every rank of a ring begins and ends with.
func ringRank(play func(sc *Scope, g *Group) error) error {
	g, err := InitGroup("ring", true)
	if err != nil {
		return err
	}
	s, err := NewStream(Device{CPU, 0})
	if err != nil {
		return err
	}
	sc := NewScope(s)
	if err := play(sc, g); err != nil {
		return err
	}
	sc.Close()
	g.Close()
	g.Close()
	if err := NewScope(s).Barrier(g); !errors.Is(err, ErrClosed) {
		return fmt.Errorf("a barrier after the end: %v", err)
	}
	if n := liveHandles(); n != 1 {
		return fmt.Errorf("%d handles are left, not only the stream", n)
	}
	return nil
}

// playCollectives checks every collective's values, with every dtype and with
// sizes below, at and above the number of ranks and the size of a packet.
func playCollectives() error {
	return ringRank(func(sc *Scope, g *Group) error {
		for _, dt := range everyDtype() {
			for _, shape := range [][]int{{}, {1}, {2, 3}, {7, 11}, {0}} {
				if err := checkCollectives(sc, g, dt, shape); err != nil {
					return fmt.Errorf("%v %v: %w", dt, shape, err)
				}
			}
			if err := checkNeighbours(sc, g, dt); err != nil {
				return fmt.Errorf("%v: %w", dt, err)
			}
		}
		if err := checkCollectives(sc, g, Float32, []int{300_001}); err != nil {
			return err
		}
		a, err := sc.Zeros([]int{4 * g.Size()}, Float32)
		if err != nil {
			return err
		}
		_, err = sc.Send(g, a, g.Rank())
		if !errors.Is(err, ErrArgument) {
			return fmt.Errorf("sending to itself: %v", err)
		}
		_, err = sc.Recv(g, []int{1}, Float32, g.Size())
		if !errors.Is(err, ErrMLX) {
			return fmt.Errorf("receiving from nobody: %v", err)
		}
		// The refused ones have done no harm.
		return checkCollectives(sc, g, Float32, []int{5})
	})
}

// contribution is what a rank brings to a collective.
func contribution(dt Dtype, rank int, shape []int) []complex128 {
	return decode(dt, sample(dt, 2*rank+1, shape...).Data)
}

func checkCollectives(sc *Scope, g *Group, dt Dtype, shape []int) error {
	a, err := upload(sc, sample(dt, 2*g.Rank()+1, shape...))
	if err != nil {
		return err
	}
	var sum, largest, all []complex128
	for rank := range g.Size() {
		mine := contribution(dt, rank, shape)
		all = append(all, mine...)
		if rank == 0 {
			sum, largest = slices.Clone(mine), slices.Clone(mine)
			continue
		}
		for i, v := range mine {
			sum[i] += v
			if larger(v, largest[i]) {
				largest[i] = v
			}
		}
	}
	gathered := append([]int{}, shape...)
	if len(shape) == 0 {
		gathered = []int{g.Size()}
	} else {
		gathered[0] *= g.Size()
	}
	for _, c := range []struct {
		name  string
		call  func(*Group, *Array) (*Array, error)
		shape []int
		want  []complex128
	}{
		{"all_sum", sc.AllSum, shape, sum},
		{"all_max", sc.AllMax, shape, largest},
		{"all_gather", sc.AllGather, gathered, all},
	} {
		b, err := c.call(g, a)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		got, err := download(b)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		want := tensor{Dtype: dt.String(), Shape: append([]int{}, c.shape...), Data: encode(dt, c.want)}
		if err := equalTensors(got, want); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// checkNeighbours sends to the right and receives from the left.
func checkNeighbours(sc *Scope, g *Group, dt Dtype) error {
	right, left := (g.Rank()+1)%g.Size(), (g.Rank()+g.Size()-1)%g.Size()
	shape := []int{3, 5}
	a, err := upload(sc, sample(dt, g.Rank(), shape...))
	if err != nil {
		return err
	}
	sent, err := sc.Send(g, a, right)
	if err != nil {
		return err
	}
	received, err := sc.Recv(g, shape, dt, left)
	if err != nil {
		return err
	}
	// Not both in one Eval, which may begin with the one that waits.
	if err := sc.Eval(sent); err != nil {
		return err
	}
	got, err := download(received)
	if err != nil {
		return err
	}
	return equalTensors(got, sample(dt, left, shape...))
}

// playBarrier lets the others tell rank 0 that they go to the barrier, and rank 0
// leave a file before it goes there as well; nobody may pass without that file.
func playBarrier() error {
	return ringRank(func(sc *Scope, g *Group) error {
		file := filepath.Join(os.Getenv("FULMEN_TEST_FOLDER"), "zero-was-here")
		var word *Array
		var err error
		if g.Rank() == 0 {
			for rank := 1; rank < g.Size(); rank++ {
				if word, err = sc.Recv(g, []int{1}, Int8, rank); err == nil {
					err = sc.Eval(word)
				}
				if err != nil {
					return err
				}
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				return err
			}
			return sc.Barrier(g)
		}
		if word, err = FromSlice(sc, []int8{1}, []int{1}); err != nil {
			return err
		}
		if word, err = sc.Send(g, word, 0); err == nil {
			err = sc.Eval(word)
		}
		if err != nil {
			return err
		}
		if err := sc.Barrier(g); err != nil {
			return err
		}
		_, err = os.Stat(file)
		return err
	})
}

// playLostPeer lets rank 1 vanish. Rank 0's next collective fails, and only what
// belongs to it. MLX's ring may also wait for ever (3 times of 60, on Linux): a
// socket's thread ends at the loss, and what is queued for it later is never done.
// That is for a supervisor to end, so it passes here; a crash does not.
func playLostPeer() error {
	g, err := InitGroup("ring", true)
	if err != nil {
		return err
	}
	s, err := NewStream(Device{CPU, 0})
	if err != nil {
		return err
	}
	sc := NewScope(s)
	if err := sc.Barrier(g); err != nil {
		return err
	}
	if g.Rank() == 1 {
		os.Exit(0)
	}
	a, err := sc.Full([]int{1 << 20}, 1, Float32)
	if err != nil {
		return err
	}
	sum, err := sc.AllSum(g, a)
	if err != nil {
		return err
	}
	reported := make(chan error, 1)
	go func() { reported <- sc.Eval(sum) }()
	select {
	case err = <-reported:
	case <-time.After(5 * time.Second):
		return nil
	}
	if !errors.Is(err, ErrMLX) {
		return fmt.Errorf("a sum with nobody: %v", err)
	}
	if _, err := ToSlice[float32](sum); !errors.Is(err, ErrMLX) {
		return fmt.Errorf("reading what has failed: %v", err)
	}
	total, err := sc.Sum(a, false)
	if err != nil {
		return err
	}
	if v, err := Item[float32](total); err != nil || v != 1<<20 {
		return fmt.Errorf("another sum: %v, %w", v, err)
	}
	sc.Close()
	g.Close() // what has failed is not waited for
	return nil
}
