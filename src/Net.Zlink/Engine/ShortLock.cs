using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>A lock for the few instructions that every message passes: taking it and leaving it costs one interlocked operation, where <see cref="Lock"/> has two and looks up its thread twice.</summary>
/// <remarks>
/// Measured on the machine of docs/benchmarks/log.md, uncontended: 5.5 ns, <see cref="Lock"/> 14.2 ns. A message passes two to four of these between two sockets that send ten million a second.
/// <para>
/// Leaving writes the state with no fence and then looks whether somebody waits, so by itself it could miss one who has just begun to. Therefore whoever begins to wait says so first, then has every processor
/// pass a barrier (a system call of some microseconds, paid only by those who wait), and then looks at the lock again: either it finds the lock free, or the one that leaves it sees him.
/// </para>
/// An interruption of a thread that waits here comes at its next wait in earnest (<see cref="Uninterrupted"/>).
/// Not reentrant. A struct, so that the compiler refuses a <c>lock</c> statement on it; never copy it, never make the field readonly.
/// </remarks>
internal struct ShortLock
{
    // A holder leaves within 0.1 us as a rule; this many looks take about 2 us, less than one wake-up (20 to 50 us). After that it was preempted, and blocking lets it run.
    private const int MaxSpins = 20;

    // Between two looks: about 0.1 us, which leaves the cache line to the holder.
    private const int Pauses = 3;

    private int _isHeld;
    private int _waiting;
    private object? _park;

    // The holder's thread; noted in Debug builds only.
    private int _owner;

    /// <summary>Takes the lock; the result leaves it.</summary>
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

        object park = Park();
        bool interrupted = Uninterrupted.Enter(park);
        _waiting++;
        Interlocked.MemoryBarrierProcessWide();
        while (Interlocked.CompareExchange(ref _isHeld, 1, 0) != 0)
        {
            interrupted |= Uninterrupted.Wait(park);
        }

        _waiting--;
        Monitor.Exit(park);
        Uninterrupted.AskAgain(interrupted);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Wake()
    {
        object park = Park();
        bool interrupted = Uninterrupted.Enter(park);
        Monitor.Pulse(park);
        Monitor.Exit(park);
        Uninterrupted.AskAgain(interrupted);
    }

    private object Park() => Volatile.Read(ref _park) ?? Interlocked.CompareExchange(ref _park, new object(), null) ?? _park!;

    [Conditional("DEBUG")]
    private static void Note(ref int owner, bool isHeld) => owner = isHeld ? Environment.CurrentManagedThreadId : 0;

    [Conditional("DEBUG")]
    private static void Check(int owner) => Debug.Assert(owner != Environment.CurrentManagedThreadId, "The thread holds this lock already, and would wait for itself.");

    /// <summary>The lock, held until it is disposed.</summary>
    internal readonly ref struct Scope
    {
        private readonly ref ShortLock _lock;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public Scope(ref ShortLock held) => _lock = ref held;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Dispose() => _lock.Leave();
    }
}
