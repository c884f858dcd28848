using System.Collections.Concurrent;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Transports;

/// <summary>Makes accepts fail as the script says, and really accepts when it has run out.</summary>
internal sealed class ScriptedAccept(params SocketError[] errors)
{
    private readonly ConcurrentQueue<SocketError> _errors = new(errors);
    private int _calls;

    /// <summary>When set, every accept fails with it.</summary>
    public SocketError? Always { get; set; }

    public int Calls => Volatile.Read(ref _calls);

    public void Add(SocketError error) => _errors.Enqueue(error);

    public ValueTask<Socket> Accept(Socket listener)
    {
        Interlocked.Increment(ref _calls);
        SocketError? error = Always ?? (_errors.TryDequeue(out SocketError next) ? next : null);
        return error is { } code ? ValueTask.FromException<Socket>(new SocketException((int)code))
            : listener.AcceptAsync(CancellationToken.None);
    }
}
