package store

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// TestMain turns the test program into a writer that is going to be killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_WRITER"); path != "" {
		first, _ := strconv.Atoi(os.Getenv("STORE_FIRST"))
		fmt.Println(write(path, first))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// payload is the value of a record, of a length that varies.
func payload(i int) []byte { return bytes.Repeat([]byte(strconv.Itoa(i)), 1+i*37%900) }

// write puts records for ever, two a transaction, and says each number once it
// is acknowledged. Now and then it deletes old ones, or compacts.
func write(path string, first int) error {
	s, err := Open(context.Background(), path, options())
	if err != nil {
		return err
	}
	if s.Quarantined() != nil {
		return fmt.Errorf("damaged: %s", s.Quarantined().Problem)
	}
	for i := first; ; i++ {
		err := s.Update(func(w *Transaction) error {
			if err := w.Delete("jobs", strconv.Itoa(i-200)); err != nil {
				return err
			}
			if err := w.Put("links", strconv.Itoa(i), nil); err != nil {
				return err
			}
			return w.Put("jobs", strconv.Itoa(i), payload(i))
		})
		if err == nil && i%23 == 0 {
			err = compacted(s)
		}
		if err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// TestKilledWhileWriting kills the writer at random moments. What it
// acknowledged is there, and no transaction is there by half.
func TestKilledWhileWriting(t *testing.T) {
	is := is.New(t)
	path := pathOf(t)
	random := testkit.Drawn(t).Source(0)
	last := 0
	for round := range 20 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_WRITER="+path, fmt.Sprintf("STORE_FIRST=%d", last+1))
		out, err := cmd.StdoutPipe()
		is.NoErr(err)
		is.NoErr(cmd.Start())
		lines := bufio.NewScanner(out)
		if round > 0 { // the first is killed while it makes the database
			for range 1 + random.IntN(40) {
				is.True(lines.Scan())
				last = number(t, lines.Text())
			}
		}
		<-time.After(time.Duration(random.IntN(3000)) * time.Microsecond) // the moment itself is what is tested
		is.NoErr(cmd.Process.Kill())
		for lines.Scan() { // acknowledged before it died
			last = number(t, lines.Text())
		}
		cmd.Wait()

		s, err := Open(t.Context(), path, options())
		is.NoErr(err)
		is.Equal(s.Quarantined(), nil)
		jobs, links := all(t, s, "jobs"), all(t, s, "links")
		for i := max(1, last-190); i <= last; i++ {
			is.Equal(jobs[strconv.Itoa(i)], string(payload(i)))
		}
		for i := last + 1; i <= last+2; i++ { // not acknowledged: whole or not at all
			value, job := jobs[strconv.Itoa(i)]
			_, link := links[strconv.Itoa(i)]
			is.Equal(job, link)
			is.True(!job || value == string(payload(i)))
		}
		is.NoErr(s.Close())
	}
	is.True(last > 50)
}

func number(t *testing.T, line string) int {
	t.Helper()
	n, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("the writer says %q", line)
	}
	return n
}
