using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tls;

/// <summary>Runs the application's TLS callbacks, which may sleep or ask somebody else, so that other connections do not wait for them.</summary>
/// <remarks>
/// The base library calls them in the middle of a handshake and wants the answer there and then. On a thread of the pool one that slept would take it from the pool without the pool's knowledge, and with a few of them all sockets
/// of the process stand still until it looks whether anything moves, twice a second; where it is told, it adds four a second once there are twice as many as processors. So a handshake that has callbacks is on threads of its own
/// whenever it goes on (<see cref="TlsUpgrade"/>), 0.1 ms to make beside the 1 ms that it takes, and they are called there.
/// </remarks>
internal static class CallbackThread
{
    /// <summary>Runs <paramref name="callback"/> in the default context and returns what it returns. What it throws is thrown here as it is.</summary>
    /// <remarks>Off those threads after all (a second handshake in a session, which an application's own options may allow) it gets one, and the pool is told that the caller waits.</remarks>
    [SuppressMessage("ApiDesign", "RS0030", Justification = "The base library has no other way to be answered, and the pool is told.")]
    public static T Run<T>(Func<T> callback) => OwnThread.IsCurrent
        ? DefaultContext.Run(callback)
        : Task.Factory.StartNew(() => DefaultContext.Run(callback), CancellationToken.None, TaskCreationOptions.LongRunning | TaskCreationOptions.DenyChildAttach, TaskScheduler.Default).GetAwaiter().GetResult();
}
