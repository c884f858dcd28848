using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tls;

/// <summary>Runs the application's TLS callbacks, which may sleep or ask somebody else, so that other connections do not wait for
/// them.</summary>
/// <remarks>
/// The base library calls them in the middle of a handshake and wants the answer there and then. On a thread of the pool one that slept
/// would take it from the pool without the pool's knowledge, and with a few of them all sockets of the process stand still until it looks
/// whether anything moves, twice a second; where it is told, it adds four a second once there are twice as many as processors. So a
/// handshake that has callbacks, or a chain policy that downloads, is on threads of its own whenever it goes on (<see cref="TlsUpgrade"/>),
/// 0.1 ms to make beside the 1 ms that it takes, and they are called there.
/// </remarks>
internal static class CallbackThread
{
    /// <summary>Runs <paramref name="callback"/> in the default context and returns what it returns. What it throws is thrown here as it
    /// is.</summary>
    /// <remarks>
    /// Off those threads after all it gets one, and the pool is told that the caller waits. That is so in a second handshake of a session,
    /// which an application's own options may allow; and now and then where the peer's bytes came in the very moment in which the base
    /// library began to wait for them: it goes on on the pool then, as every wait of .NET does that is over before it has begun.
    /// </remarks>
    [SuppressMessage("ApiDesign", "RS0030", Justification = "The base library has no other way to be answered, and the pool is told.")]
    public static T Run<T>(Func<T> callback)
    {
        if (OwnThread.IsCurrent)
        {
            return DefaultContext.Run(callback);
        }

        var answer = new Task<T>(() => DefaultContext.Run(callback));
        OwnThread.Start(() => answer.RunSynchronously(TaskScheduler.Default));
        return answer.GetAwaiter().GetResult();
    }
}
