using System.Net;
using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// Look-ups of host names on threads of our own. The runtime's asynchronous look-up is, on Linux, a blocking one on a thread of the pool,
/// of which the pool is not told: with ten names whose name server is silent nothing else in the process runs. Who asks for a name that is
/// being looked up gets that answer; nothing is kept after it. Thread-safe.
/// </summary>
/// <param name="lookup">Looks one name up and may block, for as long as it likes. Called on such a thread.</param>
internal sealed class NameLookups(Func<string, AddressFamily, IPAddress[]> lookup)
{
    // A silent name server holds a thread for 10 to 30 s (two tries of 5 s at each of up to three), and whoever comes behind the last
    // thread waits as long: more than the dead names that a process with a broken network has, mostly. 64 sleeping threads are some 6 MB
    // and
    // 64 of the 1,024 descriptors that a process is commonly given.
    public const int MaxThreads = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Name, AddressFamily Family), Question> _asked = []; // Those that wait for a thread, too.
    private readonly Queue<Question> _waiting = new();
    private int _threads;

    /// <summary>What <c>lookup</c> says of that name. Whoever gives up leaves at once; the look-up goes on, for others that ask the
    /// same.</summary>
    /// <exception cref="OperationCanceledException"><paramref name="cancellation"/> was cancelled.</exception>
    /// <exception cref="Exception">Whatever the look-up threw.</exception>
    public async Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        Question question = Join(name, family, out bool hasThread);
        if (hasThread)
        {
            OwnThread.Start(() => Work(question), "Net.Zlink names");
        }

        try
        {
            return await question.Answer.Task.WaitAsync(cancellation).ConfigureAwait(false);
        }
        finally
        {
            lock (_gate)
            {
                question.Askers--;
            }
        }
    }

    private Question Join(string name, AddressFamily family, out bool hasThread)
    {
        lock (_gate)
        {
            hasThread = false;
            if (!_asked.TryGetValue((name, family), out Question? question))
            {
                question = new Question(name, family);
                _asked.Add((name, family), question);
                hasThread = _threads < MaxThreads;
                if (hasThread)
                {
                    _threads++;
                }
                else
                {
                    _waiting.Enqueue(question);
                }
            }

            question.Askers++;
            return question;
        }
    }

    private void Work(Question first)
    {
        for (Question? next = first; next is not null;)
        {
            Question current = next;
            IPAddress[] found = [];
            Exception? fault = null;
            try
            {
                found = lookup(current.Name, current.Family);
            }
#pragma warning disable CA1031 // On a thread of our own an escaping exception ends the process; it is those who asked that it is for.
            catch (Exception e)
#pragma warning restore CA1031
            {
                fault = e;
            }

            next = DequeueNext(current); // First: whoever asks after the answer asks anew.
            current.End(found, fault);
        }
    }

    /// <summary>The next that somebody still waits for; null when the thread may go.</summary>
    private Question? DequeueNext(Question done)
    {
        lock (_gate)
        {
            _asked.Remove((done.Name, done.Family));
            while (_waiting.TryDequeue(out Question? next))
            {
                if (next.Askers > 0)
                {
                    return next;
                }

                // Not taken out when its last asker left: one that tries again, as endpoints do, has kept its place.
                _asked.Remove((next.Name, next.Family));
            }

            _threads--;
            return null;
        }
    }

    private sealed class Question(string name, AddressFamily family)
    {
        public string Name => name;

        public AddressFamily Family => family;

        /// <summary>How many wait for the answer. Under the gate.</summary>
        public int Askers { get; set; }

        public TaskCompletionSource<IPAddress[]> Answer { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void End(IPAddress[] found, Exception? fault)
        {
            if (fault is null)
            {
                Answer.SetResult(found);
                return;
            }

            Answer.SetException(fault);
            _ = Answer.Task.Exception; // Seen, though all may have given up.
        }
    }
}
