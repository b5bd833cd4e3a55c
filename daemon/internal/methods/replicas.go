package methods

import (
	"context"
	"fmt"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job"
	"fulmen/native"
)

// replicaName is the name of the job of a replica; that of the first is the instance's.
func replicaName(name string, number int) string { return fmt.Sprintf("%s/%d", name, number) }

// replicasOf are the replicas of an instance, the first first.
func replicasOf(all []api.Instance, name string) []api.InstanceReplica {
	for i := range all {
		if all[i].Name == name {
			return replicasIn(&all[i])
		}
	}
	return nil
}

func replicasIn(one *api.Instance) []api.InstanceReplica {
	if len(one.Replicas) > 0 {
		return one.Replicas
	}
	return []api.InstanceReplica{{Replica: 1, InstanceJob: one.InstanceJob}}
}

// replace makes another replica than the first what is declared, and reports whether it was
// not.
func (d *Instances) replace(ctx context.Context, c job.Caller, all []api.Instance, p api.JobApplyParams, spec api.InstanceSpec, number int) (bool, error) {
	port, err := d.port(all, spec, number)
	if err != nil {
		return false, err
	}
	if p.Request, err = d.request(spec, number, port); err != nil {
		return false, err
	}
	if err := d.Jobs.Ports.Allows(p.Request.Publish); err != nil {
		return false, err
	}
	done, err := d.Jobs.Jobs.Apply(ctx, c, p)
	return done.Outcome != api.ApplyUnchanged, err
}

const (
	// rollLook is how long it rests between two looks whether the next can be replaced.
	rollLook = time.Second
	// syncedWithin is within what time of a start a node knows all jobs.
	syncedWithin = time.Minute
)

// Roll is a declaration of an instance whose replicas are not all as it says yet.
type Roll struct {
	Principal api.Principal           `json:"principal"`
	Params    api.InstanceApplyParams `json:"params"`
}

func (d *Instances) roll(key instanceKey, p api.InstanceApplyParams) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rolled[key] = p
	d.keepLocked()
	d.wake.Wake()
}

func (d *Instances) unroll(key instanceKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, isThere := d.rolled[key]; isThere {
		delete(d.rolled, key)
		d.keepLocked()
	}
}

// end ends a roll whose jobs are not what it says. After a start others may have them, who
// were not reached yet.
func (d *Instances) end(key instanceKey) {
	if d.Clock.Boot() > d.began+syncedWithin {
		d.unroll(key)
	}
}

// keepLocked has what is rolled go on after a restart of the daemon. Values of an
// environment stay in memory.
func (d *Instances) keepLocked() {
	all := []Roll{}
	for key, p := range d.rolled {
		p.Environment = nil
		all = append(all, Roll{key.by, p})
	}
	if err := d.Rolls.Save(all); err != nil {
		d.Log.Error("which replicas are to be replaced could not be kept", "err", err)
	}
}

// Run replaces replicas until ctx ends. What is left then is replaced at the next start; where it
// needs values of an environment, which are in memory alone, when the instance is declared again.
func (d *Instances) Run(ctx context.Context) {
	for native.Wait(ctx, d.Clock, time.Hour, d.wake) {
		for {
			d.mu.Lock()
			keys := make([]instanceKey, 0, len(d.rolled))
			for key := range d.rolled {
				keys = append(keys, key)
			}
			d.mu.Unlock()
			if len(keys) == 0 {
				break
			}
			for _, key := range keys {
				if err := d.step(ctx, key); err != nil && ctx.Err() == nil {
					d.Log.Warn("a replica could not be replaced", "instance", key.name, "err", err)
				}
			}
			if !native.Pause(ctx, d.Clock, rollLook) {
				return
			}
		}
	}
}

// step makes the first replica what is declared that is not. One that lacks is made once those
// before it have their Macs, so that it is not planned on one of these, and one that is another is
// replaced once they are ready.
func (d *Instances) step(ctx context.Context, key instanceKey) error {
	c := job.Caller{Principal: key.by}
	free, err := d.hold(ctx, c, key.name)
	if err != nil {
		return err
	}
	defer free()
	d.mu.Lock()
	now, isWanted := d.rolled[key]
	d.mu.Unlock()
	if !isWanted {
		return nil
	}
	all, err := d.list(ctx, c)
	if err != nil {
		return err
	}
	replicas := map[int]api.InstanceReplica{}
	for _, r := range replicasOf(all, key.name) {
		replicas[r.Replica] = r
	}
	if len(replicas) == 0 { // it was deleted as a job
		d.end(key)
		return nil
	}
	isPlaced, isReady := true, true
	for number := 1; number <= now.Instance.Replicas; number++ {
		r, isThere := replicas[number]
		if number > 1 {
			apply := api.JobApplyParams{Environment: now.Environment, Replace: isThere, DryRun: true}
			differs, err := d.replace(ctx, c, all, apply, now.Instance, number)
			if apply.DryRun = false; err == nil && differs && (isReady || isPlaced && !isThere) {
				_, err = d.replace(ctx, c, all, apply, now.Instance, number)
			}
			if err != nil && ctx.Err() == nil {
				d.end(key) // it would fail again
			}
			if err != nil || differs {
				return err
			}
		}
		isReady = isReady && !r.ReadyAt.IsZero()
		isPlaced = isPlaced && r.Phase != api.JobQueued && r.Phase != api.JobPlacing
	}
	d.unroll(key)
	return nil
}
