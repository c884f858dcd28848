using System.Buffers.Text;
using System.Diagnostics;
using Microsoft.Win32.SafeHandles;

namespace Net.Zlink.Engine;

/// <summary>How long one thread could have run and had no processor, as Linux counts it; elsewhere always zero. By a clock alone a machine
/// without processor time looks like a handler that blocks.</summary>
/// <remarks>Samples are taken by its thread, one in 25 ms at most: each is a system call. Any thread may read the sum.</remarks>
/// <param name="total">All such time of the thread so far.</param>
internal sealed class ProcessorWait(Func<TimeSpan> total)
{
    private const int Kept = 16; // They reach back for 400 ms: a late start is one of 200 ms.

    private static readonly long Spacing = Stopwatch.Frequency / 40;

    private static readonly bool IsCounted = File.Exists("/proc/thread-self/schedstat");

    [ThreadStatic]
    private static ProcessorWait? t_current;

    private readonly (long At, TimeSpan Total)[] _samples = NoneBut(beginning: 1);
    private long _lastAt;
    private int _next = 1;

    /// <summary>That of the present thread; null: none was needed yet, or the system does not count.</summary>
    public static ProcessorWait? OfThread
    {
        get => t_current;
        set => t_current = value;
    }

    /// <summary>What the thread's wait is measured from. Costs a comparison but for one call in 25 ms.</summary>
    /// <returns>That of the thread; null: the system does not count.</returns>
    public static ProcessorWait? Begin(long now)
    {
        ProcessorWait? current = t_current;
        if (current is null)
        {
            if (!IsCounted)
            {
                return null;
            }

            t_current = current = new ProcessorWait(OpenOfThread());
        }

        if (now - current._lastAt > Spacing)
        {
            current.Sample(now);
        }

        return current;
    }

    public TimeSpan Total => total();

    /// <summary>How long the thread waited since a moment, or since the sample before it.</summary>
    /// <param name="moment">By Stopwatch.</param>
    public TimeSpan Since(long moment)
    {
        (long at, TimeSpan before) = (long.MaxValue, TimeSpan.Zero);
        foreach ((long At, TimeSpan Total) sample in _samples)
        {
            bool isCloser = sample.At <= moment ? at > moment || sample.At > at : sample.At < at;
            if (sample.At != 0 && isCloser)
            {
                (at, before) = sample;
            }
        }

        return total() - before;
    }

    private static (long At, TimeSpan Total)[] NoneBut(long beginning)
    {
        var samples = new (long At, TimeSpan Total)[Kept];
        samples[0] = (beginning, TimeSpan.Zero); // Of the thread, at which it had not waited yet.
        return samples;
    }

    private void Sample(long now)
    {
        _samples[_next] = (now, total());
        _next = (_next + 1) % Kept;
        _lastAt = now;
    }

    /// <summary>The file is that of the thread that opens it; any thread may read it.</summary>
    private static Func<TimeSpan> OpenOfThread()
    {
        try
        {
            SafeFileHandle file = File.OpenHandle("/proc/thread-self/schedstat", share: FileShare.ReadWrite);
            return () => Read(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return static () => TimeSpan.Zero;
        }
    }

    /// <summary>Three numbers: nanoseconds on a processor, nanoseconds of waiting for one, and turns.</summary>
    private static TimeSpan Read(SafeFileHandle file)
    {
        Span<byte> text = stackalloc byte[80];
        try
        {
            text = text[..RandomAccess.Read(file, text, fileOffset: 0)];
        }
        catch (IOException)
        {
            return TimeSpan.Zero; // The thread has ended.
        }

        text = text[(text.IndexOf((byte)' ') + 1)..];
        return Utf8Parser.TryParse(text, out long nanoseconds, out _)
            ? TimeSpan.FromTicks(nanoseconds / TimeSpan.NanosecondsPerTick) : TimeSpan.Zero;
    }
}
