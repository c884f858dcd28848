using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tls;

/// <summary>Runs the application's TLS callbacks, which may sleep or ask somebody else, so that other connections do not wait for them.</summary>
/// <remarks>
/// The base library calls them in the middle of a handshake, on a thread of the pool, and wants the answer there and then. One that slept on that thread would take it from the pool without the pool's knowledge, and with a
/// few of them all sockets of the process stand still until it looks whether anything moves, twice a second. So it is a thread of its own that sleeps, 0.1 ms to make beside the 1 ms of a handshake; the pool's only waits for a
/// task, which it is told of, and has another one put in its place.
/// </remarks>
internal static class CallbackThread
{
    /// <summary>Runs <paramref name="callback"/> in the default context and returns what it returns. What it throws is thrown here as it is.</summary>
    [SuppressMessage("ApiDesign", "RS0030", Justification = "To block is the point: the base library has no other way to be answered, and the pool is told.")]
    public static T Run<T>(Func<T> callback) =>
        Task.Factory.StartNew(() => DefaultContext.Run(callback), CancellationToken.None, TaskCreationOptions.LongRunning | TaskCreationOptions.DenyChildAttach, TaskScheduler.Default).GetAwaiter().GetResult();
}
