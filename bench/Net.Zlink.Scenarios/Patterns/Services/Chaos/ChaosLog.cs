using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>What a process did.</summary>
internal enum ChaosFact
{
    /// <summary>A gateway begins a request.</summary>
    Started,

    /// <summary>The request has ended; the value is its <see cref="ChaosOutcome"/>.</summary>
    Ended,

    /// <summary>A receiver begins to execute the request.</summary>
    Executed,

    /// <summary>A node publishes a message.</summary>
    Published,

    /// <summary>A node received a message; the value is 1 if the library said that others before it may be missing.</summary>
    Received,

    /// <summary>The books of a subscriber: matched minus received, dropped and queued.</summary>
    Books,

    /// <summary>Messages that a subscriber's queue dropped so far.</summary>
    Dropped,
}

/// <summary>How a request ended for the caller.</summary>
internal enum ChaosOutcome
{
    Answered,

    /// <summary>The reply is another one's.</summary>
    WrongReply,

    /// <summary>Executed, and failed.</summary>
    Failed,

    /// <summary>It may have been executed.</summary>
    Lost,

    /// <summary>Nobody executed it, says the gateway.</summary>
    NotExecuted,
    TimedOut,
    Cancelled,

    /// <summary>An exception that no caller expects.</summary>
    Unexpected,
}

/// <summary>One line of a log.</summary>
/// <param name="Fact">What happened.</param>
/// <param name="Value">What <see cref="ChaosFact"/> says.</param>
/// <param name="Id">See <see cref="ChaosId"/>.</param>
/// <param name="At">Of the clock that all processes of a machine share.</param>
[StructLayout(LayoutKind.Sequential)]
internal readonly record struct ChaosRecord(ChaosFact Fact, int Value, long Id, long At);

/// <summary>The number of a request or message: who began it, in which life, and its number there, from 1.</summary>
internal static class ChaosId
{
    private const int NumberShift = 48;
    private const int LifeShift = 32;

    public static long Of(int number, int life, uint sequence) => ((long)number << NumberShift) | ((long)life << LifeShift) | sequence;

    /// <summary>Without the sequence: the life that it is of.</summary>
    public static long LifeOf(long id) => id >> LifeShift;

    public static uint SequenceOf(long id) => (uint)id;
}

/// <summary>The log of a process. What was appended is kept when the process is killed at once.</summary>
internal sealed class ChaosLog(string file) : IDisposable
{
    private readonly SafeFileHandle _file = File.OpenHandle(file, FileMode.CreateNew, FileAccess.Write, FileShare.Read);
    private readonly Lock _gate = new();
    private long _length;

    /// <summary>Returns when the system has it.</summary>
    public void Append(ChaosFact fact, long id, int value = 0)
    {
        lock (_gate)
        {
            var record = new ChaosRecord(fact, value, id, Stopwatch.GetTimestamp());
            ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(new ReadOnlySpan<ChaosRecord>(in record));
            RandomAccess.Write(_file, bytes, _length);
            _length += bytes.Length;
        }
    }

    /// <summary>All whole records of a file; none if there is no file.</summary>
    public static ChaosRecord[] Read(string file)
    {
        if (!File.Exists(file))
        {
            return []; // Killed before it had begun.
        }

        byte[] bytes = File.ReadAllBytes(file);
        int size = Marshal.SizeOf<ChaosRecord>();
        return MemoryMarshal.Cast<byte, ChaosRecord>(bytes.AsSpan(0, bytes.Length - (bytes.Length % size))).ToArray();
    }

    public void Dispose() => _file.Dispose();
}
