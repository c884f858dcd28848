using System.Net;
using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// Looks up host names on threads of its own. On Linux the runtime's asynchronous lookup blocks a pool thread without the pool's knowledge:
/// with ten names and a silent name server nothing else in the process runs. Concurrent lookups of one name share the answer; nothing is
/// cached. Thread-safe.
/// </summary>
/// <param name="lookup">Looks up one name and may block. Called on such a thread.</param>
internal sealed class NameLookups(Func<string, AddressFamily, IPAddress[]> lookup)
{
    // A silent name server holds a thread for 10 to 30 s (two tries of 5 s at up to three servers), and further lookups wait as long. 64 is
    // more than the dead names of most processes, some 6 MB, and 64 of the usual 1,024 descriptors.
    public const int MaxThreads = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Name, AddressFamily Family), Question> _asked = []; // With those that wait for a thread.
    private readonly Queue<Question> _waiting = new();
    private int _threads;

    /// <summary>Returns the answer of <c>lookup</c>. A cancelled caller leaves at once; the lookup continues for others.</summary>
    /// <exception cref="OperationCanceledException"><paramref name="cancellation"/> was cancelled.</exception>
    /// <exception cref="Exception">The lookup's exception.</exception>
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
#pragma warning disable CA1031 // On a thread an escaping exception would end the process; it belongs to the callers.
            catch (Exception e)
#pragma warning restore CA1031
            {
                fault = e;
            }

            next = DequeueNext(current); // First: a later caller needs a new lookup.
            current.End(found, fault);
        }
    }

    /// <summary>The next lookup that still has a caller. Null: the thread ends.</summary>
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

                // Not removed when its last caller left: a retrying endpoint keeps its position.
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

        /// <summary>How many callers wait for the answer. Under the gate.</summary>
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
            _ = Answer.Task.Exception; // Observed, although all callers may have left.
        }
    }
}
