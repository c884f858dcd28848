using System.Runtime.CompilerServices;

namespace Net.Zlink;

/// <summary>An endpoint that serves the statistics of a context: see <see cref="DiagnosticsExtensions.OpenDiagnostics"/>.</summary>
/// <remarks>
/// <para>
/// It speaks STREAM: each frame that a reader sends, of at most 64 bytes, is answered by a frame with one JSON object (docs/monitoring.md).
/// Its own socket is not in the answer. It is one of <see cref="ZlinkContextOptions.MaxSockets"/>, and metrics count it.
/// </para>
/// <para>
/// There are at most 8 readers. One that sends nothing for a minute, does not take an answer for 5 seconds, or asks while it has not taken
/// the last answer, is disconnected. Answers are made one at a time, on the thread pool, with at most 1,000 sockets and 1,000 peers, and
/// 100 peers of one socket. Thread-safe.
/// </para>
/// </remarks>
public sealed class DiagnosticsEndpoint : IDisposable
{
    private const int MaxReaders = 8;
    private const int LongestRequest = 64;

    private readonly ZlinkContext _context;
    private readonly StreamSocket _socket;
    private readonly ConditionalWeakTable<ZlinkSocket, object> _numbers = [];
    private int _lastNumber;

    internal DiagnosticsEndpoint(ZlinkContext context, string endpoint)
    {
        _context = context;
        _socket = context.CreateStream(new StreamOptions
        {
            MaxConnections = MaxReaders,
            MaxMessageSize = LongestRequest,
            SendHighWaterMark = 1,
            IdleTimeout = TimeSpan.FromMinutes(1),
            WriteTimeout = TimeSpan.FromSeconds(5),
            Linger = TimeSpan.Zero,
            CloseTimeout = TimeSpan.FromMilliseconds(200), // A reader that does not end its side must not delay the end of the context.
        });
        if (Interlocked.CompareExchange(ref context.Diagnostics, _socket, null) is { } open)
        {
            _socket.Dispose();
            throw new InvalidOperationException(
                $"The diagnostics of this context are already open at {open.LastEndpoint}. Use that endpoint, or dispose it first.");
        }

        try
        {
            Endpoint = _socket.Bind(endpoint);
        }
        catch
        {
            Dispose();
            throw;
        }

        _ = AnswerAsync();
    }

    /// <summary>Where it listens, with the real port or path.</summary>
    public string Endpoint { get; }

    /// <summary>The endpoints that processes of this user have opened without naming one. The file has the process id, a number and the
    /// name of the context. Those of a process that was killed remain: nobody listens there.</summary>
    /// <returns>The endpoints, in the order of their names.</returns>
    /// <exception cref="IOException">The directory cannot be read.</exception>
    public static IReadOnlyList<string> Find() => DiagnosticsDirectory.Find();

    /// <summary>Stops serving, removes the file, and disconnects the readers. Idempotent.</summary>
    public void Dispose()
    {
        _socket.Dispose();
        Interlocked.CompareExchange(ref _context.Diagnostics, null, _socket);
    }

    private async Task AnswerAsync()
    {
        try
        {
            await foreach (StreamMessage request in _socket.ReceiveAllAsync().ConfigureAwait(false))
            {
                using (request)
                {
                    if (request.Kind is StreamMessageKind.Data
                        && !_socket.To(request.PeerId).TrySend(DiagnosticsSnapshot.Write(_context, Others())))
                    {
                        _socket.Disconnect(request.PeerId, abort: true);
                    }
                }
            }
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            // The socket or the context has ended.
        }
        finally
        {
            Dispose(); // Nobody is to wait for an answer that never comes.
        }
    }

    /// <summary>By numbers that they keep, for readers that compare answers.</summary>
    private IEnumerable<(int Number, ZlinkSocket Socket)> Others() => _context.Sockets.OpenSockets.Where(one => one != _socket)
        .Select(one => ((int)_numbers.GetValue(one, _ => ++_lastNumber), one)).OrderBy(static one => one.Item1);
}
