// Package nativetest is the test kit of package native: a machine that lives in
// memory and really does what the interfaces promise, a clock that is moved by
// hand, disks that go wrong, and what every platform must pass.
//
// That is [Conform], the checks that hold on any machine, and the scripts of
// [RunScripts], which change a small cluster and say what every machine of it
// must then tell. A backend plays them on a [Stage] of its own.
//
// The machine is a small real implementation and no mock: facts change when a test
// changes them, hints follow, refusals are typed.
package nativetest
