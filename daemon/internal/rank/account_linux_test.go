package rank

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Where the supervisor runs the shim itself as the account, as launchd does, all
// works alike, and the daemon's own record stays out of the account's reach.
func TestAShimThatIsTheAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts programs as somebody else")
	}
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	program := filepath.Join(m.folder, "fulmend") // the test's own folder is closed to others
	is.NoErr(copyFile(program, os.Args[0]))
	m.config = func(c *Config) { c.ShimAsAccount, c.Program = true, program }
	m.boot()
	p := m.params(m.spec(`trap 'exit 42' TERM; id -u; cat "$FULMEN_SHIM.json" && exit 1; sleep 1000 & wait`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	m.printed(p.Rank, 1)
	var stat syscall.Stat_t
	is.NoErr(syscall.Stat(filepath.Join("/proc", strconv.Itoa(m.shimPID())), &stat))
	is.Equal(stat.Uid, uint32(65534))
	m.boot() // a restarted daemon reaches it
	m.mustEnd(m.endParams(api.ReasonStoppedByPerson, 20))
	is.Equal(*m.until(p.Rank, api.RankExited).Exit.Code, 42)
	is.Equal(m.output(p.Rank), "65534\n")
	m.free(p.Rank)
}

// A daemon whose shims were another program, as in a version before, is followed by one
// that reaches them: a shim is known by its unit and its socket, not by its program.
func TestShimsOfAnotherProgram(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := newMac(t)
	before := filepath.Join(m.folder, "fulmend")
	is.NoErr(copyFile(before, os.Args[0]))
	m.config = func(c *Config) { c.Program = before }
	m.boot()
	p := m.params(m.spec(`trap "exit 42" TERM; echo 1; sleep 1000 & wait`))
	m.mustStart(p)
	m.until(p.Rank, api.RankRunning)
	m.printed(p.Rank, 1)
	shim := m.shimPID()
	program, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(shim), "exe"))
	is.NoErr(err)
	is.Equal(program, before)
	m.config = nil
	is.NoErr(os.Remove(before))
	m.boot()
	is.Equal(m.shimPID(), shim)
	m.mustEnd(m.endParams(api.ReasonStoppedByPerson, 20))
	is.Equal(*m.until(p.Rank, api.RankExited).Exit.Code, 42)
	is.Equal(m.output(p.Rank), "1\n")
	m.free(p.Rank)
}

// copyFile copies a program. Nothing is started meanwhile: a child of another test that
// has the copy open for writing, until it is a program itself, keeps it from being run.
func copyFile(to, from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, source)
	return err
}
