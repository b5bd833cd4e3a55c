package inventory

import (
	"errors"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
)

// Lock keeps a repository in Hugging Face's cache from other copies and removals by Fulmen,
// or fails at once where one goes on (model_copying).
func Lock(cache *os.Root, repository string) (unlock func(), err error) {
	folder, ok := RepositoryFolder(repository)
	if !ok {
		return nil, errForm
	}
	locks := path.Join(".locks", folder)
	if err := cache.MkdirAll(locks, 0o755); err != nil {
		return nil, err
	}
	lock, err := cache.OpenFile(path.Join(locks, "fulmen.lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = api.Errorf(api.ReasonModelCopying, repository, "%s is being copied to this Mac already.", repository).WithRemedy("Wait until that has ended.")
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { lock.Close() }, nil
}
