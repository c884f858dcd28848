using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tls;

/// <summary>
/// Callbacks may block. A few that block pool threads without the pool's knowledge stop all sockets of the process until the pool adds
/// threads, two to four a second. So a handshake with callbacks, policies or options of the application runs on threads of its own
/// (<see cref="TlsUpgrade"/>): 0.1 ms beside the 1 ms that it takes.
/// </summary>
internal static class CallbackThread
{
    /// <summary>
    /// Outside of those threads it gets one, and the pool knows that the caller waits: in a second handshake of a session, which an
    /// application's options may allow, and when the peer's bytes come just as the wait for them begins.
    /// </summary>
    [SuppressMessage("ApiDesign", "RS0030", Justification = "The base library offers no other way, and the pool is notified.")]
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
