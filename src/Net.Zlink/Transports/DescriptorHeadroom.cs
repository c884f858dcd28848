using System.Globalization;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>
/// Keeps an accept loop away from the last descriptors of the process. The runtime needs two for every thread that it starts, and where it
/// cannot have them it ends the process with "Out of memory": measured, a listener that accepted up to the limit died within a second
/// in one of three runs, because the thread pool started a thread just then. Descriptors are numbered from the lowest free one, so an
/// accepted socket's own number tells how close the limit is, without a system call. Used by one accept loop, without locks.
/// </summary>
internal class DescriptorHeadroom
{
    // Room for 16 threads at 2 descriptors each, or some files and name look-ups of the application's.
    private const long Most = 32;

    // Under a limit of 512 that would be too much of what there is.
    private const long Share = 16;

    private const string LimitsFile = "/proc/self/limits";
    private const string LimitName = "Max open files";

    private long _limit;

    /// <summary>The headroom below <paramref name="limit"/> descriptors.</summary>
    public DescriptorHeadroom(long limit) => _limit = limit;

    /// <summary>The lowest descriptor that is in the headroom.</summary>
    public long Start => _limit - Math.Min(Most, _limit / Share);

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

    /// <summary>Whether <paramref name="accepted"/> is one of the last descriptors.</summary>
    public virtual bool IsTouchedBy(Socket accepted) => accepted.Handle >= Start;

    /// <summary>Whether another connection may be accepted: tries what number it would get, under the limit as it is now.</summary>
    public virtual bool IsFree()
    {
        _limit = ReadLimit() ?? _limit;
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
