using System.Globalization;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>
/// Keeps accept loops and dials away from the process's last descriptors. The runtime needs two for each new thread and otherwise ends the
/// process with "Out of memory". The lowest free number is used first, so a socket's own number shows how near the limit is.
/// </summary>
internal class DescriptorHeadroom(long limit)
{
    private const long MaxDescriptors = 32;

    // Under a limit of 512 that would be too much.
    private const long LimitFraction = 16;

    // But 1/16 of a small limit (9 of 150) suffices for 4 threads, and the pool may start one per processor at once. This suffices for 12.
    private const long MinDescriptors = 24;

    private const string LimitsFile = "/proc/self/limits";
    private const string LimitName = "Max open files";

    private long _limit = limit;

    /// <summary>Where the limit cannot be read there is none: a dial or an accept that fails shows it.</summary>
    public static DescriptorHeadroom OfThisProcess { get; } = new(ReadLimit() ?? long.MaxValue);

    public long Start => Volatile.Read(ref _limit) - Math.Clamp(Volatile.Read(ref _limit) / LimitFraction, MinDescriptors, MaxDescriptors);

    public static long? ParseLimit(string limits)
    {
        int at = limits.IndexOf(LimitName, StringComparison.Ordinal);
        ReadOnlySpan<char> values = at < 0 ? "" : limits.AsSpan(at + LimitName.Length).TrimStart();
        int end = values.IndexOf(' ');
        return long.TryParse(end < 0 ? "" : values[..end], NumberStyles.None, CultureInfo.InvariantCulture, out long soft) ? soft : null;
    }

    /// <summary>Whether it is one of the last descriptors, under the present limit.</summary>
    public virtual bool IsTouchedBy(Socket socket)
    {
        if (socket.Handle < Start)
        {
            return false;
        }

        Volatile.Write(ref _limit, ReadLimit() ?? _limit);
        return socket.Handle >= Start;
    }

    /// <summary>Opens a socket to see its number.</summary>
    public virtual bool IsFree()
    {
        try
        {
            using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            return !IsTouchedBy(probe);
        }
        catch (SocketException e)
        {
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
