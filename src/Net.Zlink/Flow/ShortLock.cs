using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Flow;

/// <summary>
/// A lock with one interlocked operation for enter and exit, where <see cref="Lock"/> has two and two thread look-ups. Uncontended 5.5 ns,
/// <see cref="Lock"/> 14.2 ns (docs/benchmarks/log.md). An exit writes the state without a fence and then reads the waiter count, so alone
/// it could miss a new waiter. So a waiter first sets the count, then has every processor pass a barrier (a system call of some
/// microseconds), and then checks the lock again. Either the lock is free, or the exit sees the waiter. A struct, so that <c>lock</c> does
/// not compile on it; never copy it, never make the field readonly.
/// </summary>
internal struct ShortLock
{
    // About 2 us, less than a wake-up (20 to 50 us). A holder exits within 0.1 us, unless it is preempted: then blocking lets it run.
    private const int MaxSpins = 20;

    // About 0.1 us, which leaves the cache line to the holder.
    private const int Pauses = 3;

    private int _isHeld;
    private int _waiting;
    private object? _monitor;

    private int _owner;

    [UnscopedRef]
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Scope EnterScope()
    {
        Enter();
        return new Scope(ref this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Enter()
    {
        if (Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0)
        {
            EnterSlowly();
        }

        Note(ref _owner, isHeld: true);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Leave()
    {
        Note(ref _owner, isHeld: false);
        Volatile.Write(ref _isHeld, 0);
        if (Volatile.Read(ref _waiting) != 0)
        {
            Wake();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    [SuppressMessage("ApiDesign", "RS0030", Justification = "As every lock does for a moment before it blocks.")]
    private void EnterSlowly()
    {
        Check(_owner);
        for (int i = Environment.ProcessorCount > 1 ? MaxSpins : 0; i > 0; i--)
        {
            Thread.SpinWait(Pauses);
            if (Volatile.Read(ref _isHeld) == 0 && Interlocked.CompareExchange(ref _isHeld, 1, 0) == 0)
            {
                return;
            }
        }

        object monitor = GetMonitor();
        Monitor.Enter(monitor);
        _waiting++;
        Interlocked.MemoryBarrierProcessWide();
        while (Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0)
        {
            Monitor.Wait(monitor);
        }

        _waiting--;
        Monitor.Exit(monitor);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Wake()
    {
        object monitor = GetMonitor();
        lock (monitor)
        {
            Monitor.Pulse(monitor);
        }
    }

    private object GetMonitor() =>
        Volatile.Read(ref _monitor) ?? Interlocked.CompareExchange(ref _monitor, new object(), null) ?? _monitor!;

    [Conditional("DEBUG")]
    private static void Note(ref int owner, bool isHeld) => owner = isHeld ? Environment.CurrentManagedThreadId : 0;

    [Conditional("DEBUG")]
    private static void Check(int owner) =>
        Debug.Assert(owner != Environment.CurrentManagedThreadId, "The thread holds this lock already, and would wait for itself.");

    internal readonly ref struct Scope
    {
        private readonly ref ShortLock _lock;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public Scope(ref ShortLock held) => _lock = ref held;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose() => _lock.Leave();
    }
}
