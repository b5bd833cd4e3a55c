package unpack

import (
	"os"
	"path"
	"strconv"
	"strings"

	"fulmen/daemon/internal/rank/files/wire"
)

// staging is the files that have arrived whole and are not in place yet, this
// time or in a run that was cut. Their names begin with the hash of what they hold.
type staging struct {
	area   *os.Root
	byHash map[string][]stagedFile
	sizes  map[int64]int
	next   int
}

type stagedFile struct {
	name  string
	bytes int64
}

// arriving is where a file is written to until it is whole.
const arriving = stagingDir + "/arriving"

func openStaging(area *os.Root) (staging, error) {
	s := staging{area: area, byHash: map[string][]stagedFile{}, sizes: map[int64]int{}}
	dir, err := area.Open(stagingDir)
	if err != nil {
		return s, err
	}
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	if err != nil {
		return s, err
	}
	var total int64
	for _, e := range found {
		info, err := area.Lstat(path.Join(stagingDir, e.Name()))
		hash, number, ok := strings.Cut(e.Name(), ".")
		n, numberErr := strconv.Atoi(number)
		if err != nil || numberErr != nil || !ok || !info.Mode().IsRegular() {
			continue
		}
		s.next = max(s.next, n+1)
		s.byHash[hash] = append(s.byHash[hash], stagedFile{e.Name(), info.Size()})
		s.sizes[info.Size()]++
		total += info.Size()
	}
	if total > wire.MaxBytes { // the remains of several runs
		err := s.clear()
		return staging{area: area}, err
	}
	return s, nil
}

// may reports whether a file of the size is staged.
func (s *staging) may(bytes int64) bool { return s.sizes[bytes] > 0 }

// take gives a staged file with the contents, to one taker only.
func (s *staging) take(hash string, bytes int64) (string, bool) {
	files := s.byHash[hash]
	if len(files) == 0 || files[0].bytes != bytes {
		return "", false
	}
	s.byHash[hash] = files[1:]
	return files[0].name, true
}

// create begins the file that arrives now.
func (s *staging) create() (*os.File, error) {
	if err := s.area.RemoveAll(arriving); err != nil {
		return nil, err
	}
	return s.area.OpenFile(arriving, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// keep names the file that has arrived.
func (s *staging) keep(hash string) (string, error) {
	name := hash + "." + strconv.Itoa(s.next)
	s.next++
	return name, s.area.Rename(arriving, path.Join(stagingDir, name))
}

// clear removes what is staged.
func (s *staging) clear() error {
	if err := s.area.RemoveAll(stagingDir); err != nil {
		return err
	}
	return s.area.Mkdir(stagingDir, 0o700)
}
