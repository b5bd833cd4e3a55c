package sim

// Option changes how a world is made.
type Option func(*World)

// InMemory has connections between Macs carried in memory, by package time and
// without any system call, as a testing/synctest bubble needs it. Without it
// they are TCP on this machine's loopback interface.
func InMemory() Option {
	return func(w *World) { w.inMemory = true }
}
