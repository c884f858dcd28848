using System.Runtime.InteropServices;

namespace Net.Zlink.Porting;

/// <summary>
/// Options by native numbers and encodings, for ported code and for tests beside the native core. New code uses the properties;
/// docs/options.md has the table.
/// </summary>
/// <remarks>
/// Thread safety is that of the options. Live options act at once, the others for endpoints made afterwards, as in the native core. The
/// options of a socket that has ended can still be set and read.
/// </remarks>
public static class NativeOptions
{
    private const int IoThreads = 1;
    private const int MaxSockets = 2;
    private const int IPv6 = 42;
    private const int Blocky = 70;

    internal static IReadOnlyDictionary<int, (string Name, string Why)> ContextGaps { get; } = new Dictionary<int, (string, string)>
    {
        [3] = ("SOCKET_LIMIT / THREAD_PRIORITY", "MaxSockets is the only limit, and shards own no thread"),
        [4] = ("THREAD_SCHED_POLICY", "shards own no thread"),
        [5] = ("MAX_MSGSZ", "the native core stores it and does nothing with it: use MaxMessageSize of the socket"),
        [6] = ("MSG_T_SIZE", "the size of a C struct"),
        [7] = ("THREAD_AFFINITY_CPU_ADD", "shards own no thread; the process can be bound to processors from outside"),
        [8] = ("THREAD_AFFINITY_CPU_REMOVE", "shards own no thread"),
        [9] = ("THREAD_NAME_PREFIX", "shards own no thread"),
    };

    /// <summary>Sets an option.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="number">The native number.</param>
    /// <param name="value">
    /// The native encoding: 4 bytes for int, 8 for 64-bit options, both in the machine's byte order; bytes; UTF-8 text without a closing
    /// zero.
    /// </param>
    /// <exception cref="ZlinkException">
    /// InvalidArgument: an unknown number, a wrong size or value, a read-only option, or one that the native core refuses on this type.
    /// NotSupported: it has no meaning here or on this type; the message says why.
    /// </exception>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public static void Set(ZlinkSocket socket, int number, ReadOnlySpan<byte> value) =>
        Find(socket, number).Set(socket, value);

    /// <summary>Sets an int option.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="number">The native number.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="ZlinkException">As for <see cref="Set(ZlinkSocket, int, ReadOnlySpan{byte})"/>.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public static void Set(ZlinkSocket socket, int number, int value) =>
        Set(socket, number, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in value)));

    /// <summary>Gets an option.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="number">The native number.</param>
    /// <param name="value">
    /// Receives the value: exactly 4 or 8 bytes for numbers, at least its length for bytes and text (with the closing zero). The rest is
    /// zeroed.
    /// </param>
    /// <returns>Its length in bytes.</returns>
    /// <exception cref="ZlinkException">
    /// InvalidArgument: an unknown number, a wrong buffer size, a write-only option, or one that the native core refuses on this type.
    /// NotSupported: it has no meaning here; the message says why.
    /// </exception>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public static int Get(ZlinkSocket socket, int number, Span<byte> value) =>
        Find(socket, number).Get(socket, value);

    /// <summary>Gets an int option.</summary>
    /// <param name="socket">The socket.</param>
    /// <param name="number">The native number.</param>
    /// <returns>The value.</returns>
    /// <exception cref="ZlinkException">As for <see cref="Get(ZlinkSocket, int, Span{byte})"/>.</exception>
    /// <exception cref="ArgumentNullException"><paramref name="socket"/> is null.</exception>
    public static int GetInt32(ZlinkSocket socket, int number)
    {
        int value = 0;
        Get(socket, number, MemoryMarshal.AsBytes(new Span<int>(ref value)));
        return value;
    }

    /// <summary>
    /// Sets a native option of a context that is made afterwards: 1 IO_THREADS, 2 MAX_SOCKETS, 42 IPV6, 70 BLOCKY.
    /// </summary>
    /// <param name="options">The options.</param>
    /// <param name="number">The native number.</param>
    /// <param name="value">The native value.</param>
    /// <exception cref="ZlinkException">
    /// InvalidArgument: an unknown number or a value out of range; IO_THREADS must be at least 1. NotSupported: it has no meaning here; the
    /// message says why.
    /// </exception>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    public static void Set(ZlinkContextOptions options, int number, int value)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (!ContextGaps.ContainsKey(number) && value < 0)
        {
            throw new ZlinkException(ZlinkError.InvalidArgument, $"context option {number} takes no negative value");
        }

        Action<ZlinkContextOptions> set = number switch
        {
            IoThreads => changed => changed.ShardCount = value,
            MaxSockets => changed => changed.MaxSockets = value,
            IPv6 => changed => changed.IPv6 = value != 0,
            Blocky => changed => changed.DefaultLinger = value == 0 ? TimeSpan.Zero : Timeout.InfiniteTimeSpan,
            _ => throw NoContextOption(number),
        };
        try
        {
            var trial = new ZlinkContextOptions(); // What is refused changes nothing.
            set(trial);
            trial.Validate();
        }
        catch (ArgumentException e)
        {
            throw new ZlinkException(ZlinkError.InvalidArgument, $"context option {number}: {e.Message}", e);
        }

        set(options);
    }

    /// <summary>Gets a native context option.</summary>
    /// <param name="options">The options.</param>
    /// <param name="number">The native number.</param>
    /// <returns>The native value.</returns>
    /// <exception cref="ZlinkException">
    /// InvalidArgument: an unknown number. NotSupported: it has no meaning here; the message says why.
    /// </exception>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    public static int GetInt32(ZlinkContextOptions options, int number)
    {
        ArgumentNullException.ThrowIfNull(options);
        return number switch
        {
            IoThreads => options.ShardCount,
            MaxSockets => options.MaxSockets,
            IPv6 => options.IPv6 ? 1 : 0,
            Blocky => options.DefaultLinger == TimeSpan.Zero ? 0 : 1,
            _ => throw NoContextOption(number),
        };
    }

    private static ZlinkException NoContextOption(int number) => ContextGaps.TryGetValue(number, out (string Name, string Why) gap)
        ? new ZlinkException(ZlinkError.NotSupported, $"{gap.Name} ({number}) has no meaning here: {gap.Why}")
        : new ZlinkException(ZlinkError.InvalidArgument, $"there is no context option {number}");

    private static NativeOption Find(ZlinkSocket socket, int number)
    {
        ArgumentNullException.ThrowIfNull(socket);
        NativeOption row = NativeOptionTable.Find(number, socket)
            ?? throw new ZlinkException(ZlinkError.InvalidArgument, $"there is no socket option {number}");
        if (row.Fits(socket))
        {
            return row.Gap is null ? row
                : throw new ZlinkException(ZlinkError.NotSupported, $"{row.Name} ({number}) has no meaning here: {row.Gap}");
        }

        string type = socket.GetType().Name.Replace("Socket", "", StringComparison.Ordinal).ToUpperInvariant();
        throw row.IsGeneral ? new ZlinkException(ZlinkError.NotSupported, $"{row.Name} ({number}) has no meaning on {type}")
            : new ZlinkException(ZlinkError.InvalidArgument, $"{row.Name} ({number}) is no option of {type}");
    }
}
