using System.Globalization;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>
/// Keeps accept loops and dials away from the last descriptors of the process. The runtime needs two for every thread that it starts, and
/// where it cannot have them it ends the process with "Out of memory": measured, a listener that accepted up to the limit died within a
/// second in one of three runs, because the thread pool started a thread just then, and one that dialled up to it in every run. Descriptors
/// are numbered from the lowest free one, so a socket's own number tells how close the limit is, without a system call. Thread-safe.
/// </summary>
internal class DescriptorHeadroom
{
    // Room for 16 threads at 2 descriptors each, or some files and name look-ups of the application's.
    private const long MaxDescriptors = 32;

    // Under a limit of 512 that would be too much of what there is.
    private const long LimitFraction = 16;

    // But a sixteenth of a small limit (9 of 150) is room for 4 threads, and the pool alone may start one for every processor at once: this
    // is room for 12.
    private const long MinDescriptors = 24;

    private const string LimitsFile = "/proc/self/limits";
    private const string LimitName = "Max open files";

    private long _limit;

    /// <summary>The headroom of this process for all that dials; null where its limit cannot be read: there a failing dial tells.</summary>
    public static DescriptorHeadroom? OfDials { get; } = OfThisProcess();

    /// <summary>The headroom below <paramref name="limit"/> descriptors.</summary>
    public DescriptorHeadroom(long limit) => _limit = limit;

    /// <summary>The lowest descriptor that is in the headroom.</summary>
    public long Start => Volatile.Read(ref _limit) - Math.Clamp(Volatile.Read(ref _limit) / LimitFraction, MinDescriptors, MaxDescriptors);

    /// <summary>The headroom of this process; null where its limit cannot be read: there a failing accept tells.</summary>
    public static DescriptorHeadroom? OfThisProcess() => ReadLimit() is { } limit ? new DescriptorHeadroom(limit) : null;

    /// <summary>The soft limit in the text of Linux's limits file; null when there is none.</summary>
    public static long? ParseLimit(string limits)
    {
        foreach (var line in limits.AsSpan().EnumerateLines())
        {
            if (line.StartsWith(LimitName, StringComparison.Ordinal))
            {
                var values = line[LimitName.Length..].TrimStart();
                var end = values.IndexOf(' ');
                var soft = end < 0 ? values : values[..end];
                return long.TryParse(soft, NumberStyles.None, CultureInfo.InvariantCulture, out var limit) ? limit : null;
            }
        }

        return null;
    }

    /// <summary>Whether <paramref name="socket"/> is one of the last descriptors, under the limit as it was when it was last
    /// read.</summary>
    public virtual bool IsTouchedBy(Socket socket) => socket.Handle >= Start;

    /// <summary>Whether <paramref name="opened"/>, just opened for a dial, is one too many: one of the last descriptors under the limit as
    /// it is now, which may have been raised.</summary>
    public bool Refuses(Socket opened)
    {
        if (!IsTouchedBy(opened))
        {
            return false;
        }

        ReadAgain();
        return IsTouchedBy(opened);
    }

    /// <summary>Whether another connection may be accepted: tries what number it would get, under the limit as it is now.</summary>
    public virtual bool IsFree()
    {
        ReadAgain();
        try
        {
            using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            return !IsTouchedBy(probe);
        }
        catch (SocketException e)
        {
            // Whatever else a probe meets is not for it to judge.
            return AcceptErrors.Classify(e.SocketErrorCode) != AcceptErrorTier.Exhausted;
        }
    }

    private void ReadAgain()
    {
        if (ReadLimit() is { } limit)
        {
            Volatile.Write(ref _limit, limit);
        }
    }

    private static long? ReadLimit()
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        try
        {
            return ParseLimit(File.ReadAllText(LimitsFile));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
