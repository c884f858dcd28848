using System.Text;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Waiting in a send line, with text for a message.</summary>
internal static class BlockedSendFixture
{
    extension(BlockedSendQueue blockedSends)
    {
        /// <summary>Lets a message stand in line, for a peer or, where that is null, for whomever the socket chooses. What was not let
        /// stand is the result.</summary>
        public Task<SendStatus> Wait(string text, string? routeId, CancellationToken cancel)
        {
            var waiter = new SendWaiter();
            waiter.Prepare(blockedSends, recycle: null, blocking: false);
            waiter.Deferred = new DeferredMessage(Encoding.ASCII.GetBytes(text), owner: null);
            waiter.SetTarget(new SendTarget(Encoding.ASCII.GetBytes(routeId ?? "")));
            SendStatus status = blockedSends.Enqueue(waiter);
            if (status != SendStatus.Full)
            {
                return Task.FromResult(status);
            }

            waiter.CancelWith(cancel);
            return new ValueTask<SendStatus>(waiter, waiter.Version).AsTask();
        }
    }
}
