package files

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"fulmen/daemon/internal/rank/files/carry"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
)

// Unused is how long a copy stays that no job asked for.
const Unused = 7 * 24 * time.Hour

// Clean removes an account's copies that no fetch has asked for since Unused, but
// none of keep: folders that Fetch gave, of jobs that are not deleted.
func (f *Files) Clean(ctx context.Context, who account.Account, keep []string) error {
	if !filepath.IsAbs(who.Home) {
		return nil
	}
	task := wire.CleanTask{Home: who.Home, Area: area, Before: f.cfg.Clock.Now().Add(-Unused).UnixNano()}
	for _, dir := range keep {
		if below, ok := strings.CutPrefix(dir, filepath.Join(who.Home, filepath.FromSlash(area))+string(filepath.Separator)); ok {
			task.Keep = append(task.Keep, filepath.ToSlash(filepath.Dir(below)))
		}
	}
	if err := carry.Turn(ctx, f.receivers); err != nil {
		return err
	}
	defer func() { <-f.receivers }()
	_, err := f.carrier.Do(ctx, who, "unpack", wire.Clean, task, "old copies of "+who.Name+" to be removed", nil)
	return err
}
